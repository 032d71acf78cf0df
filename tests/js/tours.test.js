// The stops of the tours of the KV cache and of how the model learned.

import assert from "node:assert/strict";
import { test } from "node:test";
import { question } from "../../visuals/static/panels/kv/question.js";
import { runMessage } from "./payload_help.js";
import { T, TABLES, TRAINING, at, valuesOf, world } from "./tour_help.js";

const { tourOf } = await import("../../visuals/static/tour/tours.js");
const { hasLog, leapOf, riseOf } = await import("../../visuals/static/tour/learned.js");

test("the stops of the cache say what the run's shape gives, and what was measured", async () => {
  const made = world();
  made.glass.settings.set("kv", {});
  const kept = valuesOf(at("kept", made));
  // 4 layers, 2 K/V heads of 4 numbers of 4 bytes
  assert.deepEqual([kept.cell, kept.cells, kept.total, kept.per_token], [2 * 2 * 4 * 4, 4 * T, 4 * T * 64, 4 * 64]);
  const asked = valuesOf(at("query", made));
  assert.deepEqual([asked.query, asked.percent, asked.next], [4 * 4 * 4 * 4, 100, 3]);
  const grows = valuesOf(at("grows", made));
  assert.deepEqual([grows.total, grows.measured, grows.full], [768, 768, 64 * 256]);
  const shares = valuesOf(at("shares", made));
  assert.deepEqual(
    [shares.group, shares.ratio, shares.mha, shares.gqa, shares.mla, shares.both, shares.rows],
    [2, 2, 512, 256, 64, 18, 16],
  );
  const saves = valuesOf(at("saves", made));
  const weights = 4 * (2 * 4 * 16 + 2 * 4 * 8 + 3 * 4 * 6); // of each layer: q and o, k and v, gate, up and down
  const head = 9 * 4;
  assert.deepEqual(
    [saves.cached_work, saves.full_work],
    [weights + head + 4 * 4 * 8 * T, T * weights + head + 4 * 4 * 8 * 6],
  );
  assert.equal(at("saves", made).asks, "");
  assert.equal(at("decode", made).say, "");
  const written = { ...runMessage([5, 6, 5, 8]), n_prompt: 3, id: "written" };
  Object.assign(written.model, { d_model: 4, vocab_size: 9, dtype: "float32", device: "CPU" });
  made.store.publish(written);
  const decode = at("decode", made);
  assert.deepEqual(
    [decode.say, decode.numbers.held.value, decode.numbers.wrote.value, decode.numbers.read.value],
    ["_done", 4, 256, 1024],
  );
});

test("what is predicted is what the calculator says when the tokens are set", async () => {
  const made = world();
  question(made.glass);
  await new Promise((done) => setTimeout(done));
  const before = at("predict", made);
  before.act.run();
  assert.equal(at("predict", made), null); // asked anew
  await new Promise((done) => setTimeout(done));
  const after = at("predict", made);
  assert.deepEqual([before.say, after.say], ["", "_there"]);
  assert.deepEqual(
    [after.numbers.tokens.value, after.numbers.bytes.value],
    [before.numbers.next.value, before.numbers.next_bytes.value],
  );
  assert.equal(after.numbers.mha.text, "16 GiB");
  assert.match(before.numbers.beyond.text, /Big was made for texts of up to 16,384 tokens/); // 32,768 are asked for
  assert.equal(after.numbers.beyond.text, before.numbers.beyond.text);
  tourOf("predict").stops.at(-1).set(made.glass); // who comes to the stop again begins again
  await new Promise((done) => setTimeout(done));
  assert.equal(at("predict", made).say, "");
});

test("where a latent is kept, no stop of the cache says that keys and values are", () => {
  const made = world();
  made.glass.settings.set("kv", {});
  const { parts } = made.glass.state.trace.model;
  Object.assign(made.glass.state.trace.model, { parts: { ...parts, latent: { rank: 6, nope: 2, rope: 2, value: 4 } } });
  const forms = ["kept", "query", "saves"].map((key) => [at(key, made).say, at(key, made).answers ?? ""]);
  assert.deepEqual(forms, [
    ["_latent", "_latent"],
    ["_latent", "_latent"],
    ["_latent", ""],
  ]);
  for (const table of Object.values(TABLES))
    for (const name of ["kept_answers_latent", "query_says_latent", "saves_says_latent"])
      assert.match(table["tour-cache"][name], /latent|潜向量/);
});

test("the stops of how it learned say what stands in the log, by the names of its own stages", () => {
  const made = world();
  assert.equal(hasLog(made.glass), true);
  assert.equal(at("corpus", made).numbers.stages.text, `${TABLES.en.training.stage_patterns}, my own`);
  assert.equal(valuesOf(at("corpus", made)).each, 4000);
  const loss = valuesOf(at("loss", made));
  assert.deepEqual([loss.first, loss.last, loss.p_last, loss.blind], [3, 1, Math.exp(-1), Math.log(9)]);
  assert.equal(loss.rise, ""); // it falls in both stages
  const log = [
    ["patterns", 5e5, 2, 3],
    ["patterns", 1e6, 2, 1.5],
    ["my own", 1.5e6, 2, 4],
    ["my own", 2e6, 2, 1],
  ];
  assert.deepEqual(riseOf({ ...TRAINING, log }), { number: 2, name: "my own", before: 1.5, top: 4 });
  const skills = at("skills", made);
  // one of the four was never looked at
  assert.deepEqual([skills.answers, skills.numbers.n_skills.value], ["_some", 3]);
  assert.match(
    skills.numbers.known.value,
    /^counting after 0\.500 million.*patterns.*; induction after 1\.50 million.*my own/,
  );
  assert.match(skills.numbers.never.value, /^pronouns \(30\.0%\)$/);
  const leap = at("induction", made);
  assert.deepEqual(
    [leap.say, leap.numbers.before.value, leap.numbers.share.value, leap.numbers.end.value],
    ["", 0.2, 0.95, 0.9],
  );
  assert.deepEqual(leapOf({ tokens: [1, 2], shares: [0.8, 0.9] }), {
    from: null,
    to: { tokens: 1, share: 0.8 },
    end: { tokens: 2, share: 0.9 },
  });
  const cannot = valuesOf(at("cannot", made));
  assert.deepEqual(
    [cannot.met, cannot.n_short, cannot.skill, cannot.right, cannot.wrong],
    [1, 2, TABLES.en.training["skill_free stories"], 150, 25],
  );
  const attempt = at("attempt", made);
  assert.deepEqual(
    [attempt.say, attempt.numbers.sequence.text, attempt.numbers.p_one.value],
    ["", TABLES.en["tour-learned"].sequence, Math.exp(-0.5)],
  );
  for (const none of [
    { ...TRAINING, log: [] },
    { ...TRAINING, answers: null },
  ]) {
    const other = world();
    other.answers.training = none;
    assert.equal(hasLog(other.glass), false);
  }
  const waiting = world();
  delete waiting.answers.training;
  assert.equal(hasLog(waiting.glass), null);
});
