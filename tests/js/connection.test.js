// A server that is away, and gradio that shall not hear of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { guarded } from "../../visuals/static/connection.js";

const JOIN = "http://host/some/where/gradio_api/queue/join?";
const DATA = "http://host/some/where/gradio_api/queue/data?session_hash=x";
const away = () => Promise.reject(new TypeError("Failed to fetch"));
const sse = (message) => `data: ${JSON.stringify(message)}\n\n`;
/** The messages of a stream, as gradio reads them. */
const read = async (answer) => (await answer.text()).split("\n\n").filter(Boolean).map((part) => JSON.parse(part.slice("data: ".length)));

/** A body that sends these texts, and then breaks off, or ends. */
const body = (texts, breaks) => new ReadableStream({
  async pull(stream) {
    if (texts.length) stream.enqueue(new TextEncoder().encode(texts.shift()));
    else if (breaks) stream.error(new TypeError("network error"));
    else stream.close();
  },
});

function page(answers) {
  const seen = { lost: 0 };
  const ask = guarded((address) => Promise.resolve().then(() => answers(String(address.url ?? address))), () => { seen.lost += 1; });
  return { ask, seen };
}

test("a question that does not arrive is answered as one that changed nothing", async () => {
  const { ask, seen } = page(away);
  const { event_id: id } = await (await ask(JOIN, { method: "POST" })).json();
  const messages = await read(await ask(new Request(DATA)));
  assert.deepEqual(messages[0], { msg: "process_completed", event_id: id, output: { data: [] }, success: true });
  assert.equal(messages[1].msg, "close_stream");
  assert.equal(seen.lost, 2);
});

test("a stream that breaks off ends the events that it was about, and no others", async () => {
  for (const [breaks, last] of [[true, ""], [false, ""], [true, sse({ msg: "unexpected_error", session_not_found: true }).replace('":', '": ')]]) {
    const asked = [["first"], ["second"]];
    const { ask, seen } = page((address) =>
      address.includes("join") ? Response.json({ event_id: asked.shift()[0] }) : new Response(body([sse({ msg: "process_generating", event_id: "second" }), ...(last ? [last] : [])], breaks)));
    await ask(JOIN);
    await ask(JOIN);
    const messages = await read(await ask(DATA));
    const ends = messages.filter(({ msg }) => msg === "process_completed").map((one) => one.event_id);
    assert.deepEqual([ends, messages[0].msg, messages.at(-1).msg, seen.lost], [["first", "second"], "process_generating", "close_stream", 1]);
  }
});

test("what ends as it should is handed on as it is", async () => {
  const sent = [sse({ msg: "process_completed", event_id: "a", output: { data: [1] } }), sse({ msg: "close_stream", event_id: null })];
  const { ask, seen } = page((address) => (address.includes("join") ? Response.json({ event_id: "a" }) : new Response(body([...sent], false))));
  await ask(JOIN);
  assert.equal(await (await ask(DATA)).text(), sent.join(""));
  assert.equal(seen.lost, 0);
});

test("a proxy without a server is no answer; a refusal, a busy queue and everything else are handed on", async () => {
  for (const [status, type, lost] of [[502, "text/html", 1], [503, "text/html", 1], [503, "application/json", 0], [422, "application/json", 0]]) {
    const { ask, seen } = page(() => new Response("{}", { status, headers: { "content-type": type } }));
    const answer = await ask(JOIN);
    assert.deepEqual([answer.status, seen.lost], lost ? [200, 1] : [status, 0]);
  }
  const { ask } = page(away);
  await assert.rejects(ask("http://host/gradio_api/component_server"));
});
