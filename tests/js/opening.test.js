// Whatever a link holds, a run comes of it, and what was wrong with it is said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counterpart } from "../../visuals/static/examples.js";
import { readLink } from "../../visuals/static/link.js";
import { openLink } from "../../visuals/static/opening.js";
import { createTexts } from "../../visuals/static/texts.js";
import { runMessage } from "./payload_help.js";

const refused = (code, params = {}) => ({ kind: "message", level: "error", code, params });
/** A server with one model, of 4 layers and 9 tokens. */
async function server({ model, prompt, generated, layer }) {
  if (model !== undefined && model !== "m") return refused("model_unknown", { name: model });
  if (prompt.length > 9) return refused("prompt_too_long", { tokens: prompt.length, limit: 9 });
  if (generated.some((id) => id >= 9) || (layer ?? 0) >= 65536) return refused("bad_request", { detail: "no" });
  const message = runMessage([5, 6, 7], { prompt });
  return { ...message, model: { ...message.model, vocab_size: 9 } };
}
const open = async (hash) =>
  (await openLink(readLink(hash), "plain", server)).messages.map((one) =>
    one.kind === "run" ? one.prompt : [one.code, one.params.field, one.params.value, one.params.expected],
  );

test("a run comes of every link", async () => {
  const none = undefined;
  const links = {
    "": ["plain"],
    "#lang=constructor&chapter=__proto__": ["plain"],
    "#layer=3&prompt=x": ["x"],
    "#layer=65536": ["plain", ["link_nearest", "layer", "65536", "0–3"]],
    "#prompt=x&layer=999999": ["x", ["link_nearest", "layer", "999999", "0–3"]],
    "#prompt=x&head=4": ["x", ["link_nearest", "head", "4", "0–3"]],
    "#prompt=x&token=3": ["x", ["link_nearest", "token", "3", "0–2"]],
    "#prompt=x&more=9": ["x", ["link_left_out", "more", "9", "0–8"]],
    "#prompt=x&more=1.2": ["x"],
    "#more=4096": ["plain", ["link_left_out", "more", "4096", "0–8"]],
    "#prompt=x&layer=two": ["x", ["link_left_out", "layer", "two", "0, 1, 2, …"]],
    "#prompt=x&more=1.y": ["x", ["link_left_out", "more", "y", "0, 1, 2, …"]],
    "#prompt=0123456789&more=77": ["plain", ["prompt_too_long", none, none, none]],
    "#model=other&prompt=x&more=1": ["x", ["model_unknown", none, none, none]],
  };
  for (const [hash, expected] of Object.entries(links)) assert.deepEqual(await open(hash), expected, hash);
});

test("a server that does not answer is said once", async () => {
  const { messages } = await openLink(readLink("#prompt=x&more=1"), "plain", async () => {
    throw new Error("away");
  });
  assert.deepEqual(
    messages.map(({ code }) => code),
    ["no_connection"],
  );
});

test("a link that was not read, or for which there was no time, is asked for once, as it is", async () => {
  for (const answer of [{ code: "asked_too_much", unanswered: true }, { code: "busy" }]) {
    const asked = [];
    const recall = async (request) => {
      asked.push(request);
      return { kind: "message", params: {}, ...answer };
    };
    const { messages } = await openLink(readLink("#prompt=x&more=1&model=m"), "plain", recall);
    assert.deepEqual(
      messages.map(({ code }) => code),
      [answer.code],
    );
    assert.deepEqual(
      asked.map(({ prompt, model }) => [prompt, model]),
      [["x", "m"]],
    );
  }
});

test("a language is one of the page's own", async () => {
  const { load } = createTexts({ en: "x" });
  for (const code of ["constructor", "__proto__", "toString", "fr"]) assert.equal(await load(code), false, code);
});

test("an example stands for the one at its place in the other language, and a reader's own text for none", () => {
  const chip = (lang, textContent, dataset = {}) => ({ lang, textContent, dataset });
  const chips = [
    chip("en", "one"),
    chip("en", "two"),
    chip("en", "real", { real: "" }),
    chip("zh", "一"),
    chip("zh", "二"),
  ];
  const { document } = globalThis;
  globalThis.document = { querySelectorAll: () => chips };
  const found = (prompt, language) => counterpart(prompt, language)?.textContent ?? null;
  assert.deepEqual(
    ["one", "two", "二", "real", "my own"].map((prompt) => found(prompt, "zh")),
    ["一", "二", null, null, null],
  );
  assert.equal(found("二", "en"), "two");
  globalThis.document = document;
});
