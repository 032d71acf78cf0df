// A server that is away, and gradio that shall not hear of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withEnds } from "../../visuals/static/events.js";

const JOIN = "http://host/some/where/gradio_api/queue/join?";
const DATA = "http://host/some/where/gradio_api/queue/data?session_hash=x";
const away = () => Promise.reject(new TypeError("Failed to fetch"));
const sse = (message) => `data: ${JSON.stringify(message)}\n\n`;
/** The messages of a stream, as gradio reads them. */
const read = async (answer) =>
  (await answer.text())
    .split("\n\n")
    .filter(Boolean)
    .map((part) => JSON.parse(part.slice("data: ".length)));

/** A body that sends these texts, and then breaks off, or ends. */
const body = (texts, breaks) =>
  new ReadableStream({
    async pull(stream) {
      if (texts.length) stream.enqueue(encode(texts.shift()));
      else if (breaks) stream.error(new TypeError("network error"));
      else stream.close();
    },
  });

function page(answers) {
  const seen = [];
  const tell = ({ code }) => seen.push(code);
  const ask = withEnds((address) => Promise.resolve().then(() => answers(String(address.url ?? address))), tell);
  return { ask, seen };
}
const CLOSE = { msg: "close_stream", event_id: null };
const refusal = (status, type = "text/html", said = "no") =>
  new Response(said, { status, headers: { "content-type": type } });
const encode = (text) => new TextEncoder().encode(text);
/** The answers of a server that takes these events in and sends these streams, each in turn. */
const server = (events, bodies) => (address) =>
  address.includes("join") ? Response.json({ event_id: events.shift() }) : new Response(bodies.shift());
const completed = (id, data = [id]) => ({ msg: "process_completed", event_id: id, output: { data }, success: true });

test("an event that does not come into the queue ends as one that changed nothing, without a stream", async () => {
  const asked = [];
  const { ask, seen } = page((address) => {
    asked.push(address);
    return away();
  });
  const { event_id: id } = await (await ask(JOIN, { method: "POST" })).json();
  assert.deepEqual(await read(await ask(new Request(DATA))), [completed(id, []), CLOSE]);
  assert.deepEqual([asked, seen], [[JOIN], ["no_connection"]]);
});

test("another event that is under way goes on", async () => {
  let send;
  const body = new ReadableStream({
    start(stream) {
      send = (message) => stream.enqueue(encode(sse(message)));
    },
  });
  const joins = [() => Response.json({ event_id: "writes" }), () => refusal(429)];
  const { ask, seen } = page((address) => (address.includes("join") ? joins.shift()() : new Response(body)));
  await ask(JOIN);
  const answer = await ask(new Request(DATA));
  const { event_id: id } = await (await ask(JOIN)).json();
  const word = { msg: "process_generating", event_id: "writes", output: { data: ["a"] }, success: true };
  const last = completed("writes");
  for (const message of [word, last, CLOSE]) send(message);
  assert.deepEqual(await read(answer), [completed(id, []), word, last, CLOSE]);
  assert.deepEqual(seen, ["asked_too_much"]);
});

test("a stream that breaks off ends the events that are under way, and no others", async () => {
  const unknown = { msg: "unexpected_error", event_id: null, session_not_found: true };
  for (const [breaks, last] of [
    [true, []],
    [false, []],
    [true, [unknown]],
    [false, [CLOSE]],
  ]) {
    const bodies = [body([completed("first"), ...last].map(sse), breaks), body([sse(CLOSE)], false)];
    const { ask, seen } = page(server(["first", "second"], bodies));
    await ask(JOIN);
    await ask(JOIN);
    const messages = await read(await ask(DATA));
    assert.deepEqual(
      messages.map(({ msg, event_id: id }) => [msg, id]),
      [
        ["process_completed", "first"],
        ["process_completed", "second"],
        ["close_stream", null],
      ],
    );
    assert.deepEqual(seen, ["no_connection"]);
  }
});

test("a stream that ends while an event still waits is asked for again", async () => {
  const bodies = ["first", "second"].map((id) => body([sse(completed(id)), sse(CLOSE)], false));
  const { ask, seen } = page(server(["first", "second"], bodies));
  await ask(JOIN);
  await ask(JOIN);
  assert.deepEqual(
    (await read(await ask(DATA))).map(({ output }) => output?.data[0]),
    ["first", "second", undefined],
  );
  assert.deepEqual(seen, []);
});

test("what ends as it should is handed on as it is, however it is cut", async () => {
  const sent = sse(completed("a", ["猫", "x".repeat(300)])) + sse(CLOSE);
  const whole = encode(sent);
  const bites = new ReadableStream({
    start(out) {
      for (let i = 0; i < whole.length; i += 7) out.enqueue(whole.slice(i, i + 7));
      out.close();
    },
  });
  const { ask, seen } = page(server(["a"], [bites]));
  await ask(JOIN);
  assert.equal(await (await ask(DATA)).text(), sent);
  assert.deepEqual(seen, []);
});

test("a connection on which nothing comes any more is given up", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const silent = new ReadableStream({});
  const { ask, seen } = page(server(["a"], [silent]));
  await ask(JOIN);
  const reading = read(await ask(DATA));
  for (let passed = 0; passed < 61; passed += 1) {
    assert.deepEqual(seen, []);
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  assert.deepEqual([await reading, seen], [[completed("a", []), CLOSE], ["no_connection"]]);
});

test("an event that fails in gradio changes nothing, and is told", async () => {
  const sent = [sse({ msg: "process_completed", event_id: "a", output: { error: null }, success: false }), sse(CLOSE)];
  const { ask, seen } = page(server(["a"], [body(sent, false)]));
  await ask(JOIN);
  assert.deepEqual(await read(await ask(DATA)), [completed("a", []), CLOSE]);
  assert.deepEqual(seen, ["internal"]);
});

test("each way to fail has a message of its own, for an event, Stop, a stream and a question", async () => {
  const ways = [
    [() => refusal(502), "server_away"],
    [() => refusal(503), "server_away"],
    [() => refusal(504), "server_away"],
    [() => refusal(200), "server_away"],
    [() => refusal(429), "asked_too_much"],
    [() => refusal(408), "request_slow"],
    [() => refusal(413), "request_long"],
    [() => refusal(500), "server_failed"],
    [() => refusal(404), "refused"],
    [() => refusal(503, "application/json", '{"error":"draining"}'), "draining"],
    [() => refusal(503, "application/json", '{"detail":"busy: …"}'), "busy"],
    [() => refusal(503, "application/json", '{"message":"a proxy"}'), "server_away"],
    [away, "no_connection"],
  ];
  for (const [fails, code] of ways) {
    const { ask, seen } = page(fails);
    assert.equal((await ask(JOIN)).status, 200);
    assert.deepEqual(seen, [code]);
    assert.equal((await (await ask("http://host/gradio_api/component_server/")).json()).code, code);
    if (code === "server_away" && fails().status === 200) continue;
    assert.deepEqual((await (await ask("http://host/gradio_api/run/predict?")).json()).data, []);
    assert.deepEqual(seen, [code, code]);
  }
  const { ask } = page(away);
  await assert.rejects(ask("http://host/glass/en.json"));
});
