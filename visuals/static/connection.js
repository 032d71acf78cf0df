// When the server cannot be reached. gradio then shuts its events down for good, covers the page with a notice and loads the
// page anew when the server is back, and what was typed is gone. So it is not told: its question is answered as one that
// changed nothing, the page says what happened, and asks until there is a server again.

const BEHIND = new Set([502, 503, 504]); // what a proxy answers for a server that is away; gradio's own 503 says "busy"
const AGAIN = 2000; // ms between two questions whether it is back
const ENDED = "close_stream"; // the last message of a stream that gradio ends itself
const UNKNOWN = '"session_not_found": true'; // a server that was started afresh

const text = new TextEncoder();
const words = new TextDecoder();
const event = (message) => text.encode(`data: ${JSON.stringify(message)}\n\n`);

/** Messages that end these events without a change of anything, and then the stream. @param {Iterable<string>} ids */
const endings = (ids) => [
  ...[...ids].map((id) => event({ msg: "process_completed", event_id: id, output: { data: [] }, success: true })),
  event({ msg: ENDED, event_id: null }),
];

const addressOf = (asked) => new URL(asked.url ?? asked, "http://page").pathname;

/**
 * @param {typeof fetch} ask the browser's own
 * @param {() => void} lost called whenever the server could not be reached
 * @returns {typeof fetch} to be used in its place
 */
export function guarded(ask, lost) {
  const waiting = new Set(); // gradio's names of the events whose end has not come
  let made = 0;

  /** The answer of a server; null where there is none. */
  async function reached(...asked) {
    try {
      const answer = await ask(...asked);
      const busy = answer.status === 503 && answer.headers.get("content-type")?.includes("json");
      return BEHIND.has(answer.status) && !busy ? null : answer;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return null;
    }
  }

  async function join(...asked) {
    const answer = await reached(...asked);
    if (answer && !answer.ok) return answer;
    const id = answer ? (await answer.clone().json()).event_id : `lost-${made++}`;
    waiting.add(id);
    if (answer) return answer;
    lost();
    for (const end of open) end();
    return Response.json({ event_id: id });
  }

  const open = new Set(); // streams under way, as functions that end them

  /** What the server sends, and if it breaks off, the ends of all events that were under way. */
  function mended(body) {
    const reader = body?.getReader();
    let over = false;
    return new ReadableStream({
      start(stream) {
        const end = () => {
          if (over) return;
          over = true;
          open.delete(end);
          endings(waiting).forEach((part) => stream.enqueue(part));
          waiting.clear();
          stream.close();
          reader?.cancel().catch(() => {});
        };
        open.add(end);
        if (!reader) return end();
        const broken = () => {
          if (over) return;
          lost();
          end();
        };
        const pass = async () => {
          let tail = "";
          for (;;) {
            const { done, value } = await reader.read();
            if (over) return;
            tail = done ? tail : (tail + words.decode(value.subarray(-300))).slice(-300);
            if (tail.includes(UNKNOWN) || (done && !tail.includes(ENDED))) return broken();
            if (done) break;
            stream.enqueue(value);
            if (tail.includes(ENDED)) break;
          }
          over = true;
          open.delete(end);
          waiting.clear();
          stream.close();
        };
        pass().catch(broken);
      },
      cancel: () => {
        over = true;
        return reader?.cancel();
      },
    });
  }

  async function stream(...asked) {
    const answer = await reached(...asked);
    if (answer && !answer.ok) return answer;
    if (!answer) lost();
    return new Response(mended(answer?.body), { headers: { "content-type": "text/event-stream" } });
  }

  return (...asked) => {
    const address = addressOf(asked[0]);
    if (address.endsWith("/queue/join")) return join(...asked);
    if (address.endsWith("/queue/data")) return stream(...asked);
    return ask(...asked);
  };
}

/** Whether there is a server. @param {typeof fetch} ask */
export async function answers(ask) {
  try {
    return (await ask("gradio_api/app_id", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/**
 * Says that the server is away, once, and that it is back. @param {object} store @param {() => Promise<void>} found
 * goes on where the page stood
 */
export function watchConnection(store, found) {
  const ask = window.fetch.bind(window);
  let away = false;
  window.fetch = guarded(ask, () => {
    if (store.state.run) store.state.run.generating = false;
    store.emit("message", { level: "error", code: "no_connection", params: {} });
  });
  store.on("message", async ({ code }) => {
    if (code !== "no_connection" || away) return;
    away = true;
    do await new Promise((done) => setTimeout(done, AGAIN)); while (!(await answers(ask)));
    away = false;
    await found();
    if (!away) store.emit("message", { level: "info", code: "connected", params: {} });
  });
  return { answers: () => answers(ask) };
}
