// Every event of gradio's ends, whatever becomes of its requests: the one that joins the queue, and the stream that
// brings the answers of all. By itself gradio keeps an event without an end under way, and then no press on its
// button does anything; told that the connection broke, it shuts its events down for good and loads the page anew, and
// what was typed is gone. So it is told neither: an event whose answer cannot come ends as one that changed nothing,
// and the page hears why.

import { failedOnServer, LOST, troubleOf } from "./unanswered.js";

const SILENCE = 60_000; // ms without a byte after which a connection is given up: gradio sends something every 15 s
const CLOSE = { msg: "close_stream", event_id: null };

const bytes = new TextEncoder();
/** @param {object} message */
const written = (message) => `data: ${JSON.stringify(message)}`;
/**
 * The message that ends an event without a change of anything.
 *
 * @param {string} id of the event
 */
const nothing = (id) => ({ msg: "process_completed", event_id: id, output: { data: [] }, success: true });

/**
 * What `work` gives; rejects where that takes longer than SILENCE.
 *
 * @template Value
 * @param {Promise<Value>} work
 * @returns {Promise<Value>}
 */
function soon(work) {
  let timer = 0;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error("silence")), SILENCE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * The messages of a stream of server-sent events, each as it came.
 *
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 */
async function* partsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let rest = ""; ;) {
      const { done, value } = await soon(reader.read());
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop() ?? "";
      yield* parts.filter(Boolean);
    }
  } finally {
    reader.cancel().catch(() => {}); // of a stream that is over
  }
}

/** @param {Parameters<typeof fetch>[0]} asked */
const addressOf = (asked) => new URL(asked instanceof Request ? asked.url : asked, "http://page").pathname;
/** @param {Response} answer */
const isJson = (answer) => answer.headers.get("content-type")?.includes("json") ?? false;

/**
 * @typedef {import("./unanswered.js").Trouble} Trouble
 *
 * @typedef {(trouble: Trouble) => void} Tell called whenever an event, or all that are under way, cannot be
 *   answered
 *
 * @typedef {{ answer: Response; trouble?: undefined } | { answer?: undefined; trouble: Trouble }} Answered
 *
 * @typedef {(asked: Parameters<typeof fetch>, brief: boolean) => Promise<Answered>} Ask `brief`: a server answers
 *   this at once
 */

/**
 * A good answer, or what is to be said in its place.
 *
 * @param {typeof fetch} ask
 * @returns {Ask}
 */
const answering = (ask) => async (asked, brief) => {
  try {
    const coming = ask(...asked);
    const answer = await (brief ? soon(coming) : coming);
    return answer.ok ? { answer } : { trouble: await troubleOf(answer) };
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    return { trouble: LOST };
  }
};

/** The events under way, by gradio's names of them. */
function createEvents() {
  /** @type {Set<string>} */
  const waiting = new Set();
  /** @type {Set<string>} */
  const early = new Set(); // whose end came before the answer to their joining
  /** @type {Set<string>} */
  const failed = new Set(); // that did not come into the queue, and have had no end yet
  let made = 0;
  return {
    waiting,
    failed,
    /** @param {string} id of an event that came into the queue */
    join(id) {
      if (!early.delete(id)) waiting.add(id);
    },
    /** @param {string} id of an event that has had its end */
    end(id) {
      if (!waiting.delete(id)) early.add(id);
    },
    /** A name for an event that did not come into the queue. */
    fail() {
      const id = `unanswered-${made++}`;
      failed.add(id);
      return id;
    },
  };
}

/**
 * The stream that brings the answers of all events, and goes on over connections that break.
 *
 * @param {ReturnType<typeof createEvents>} events
 * @param {Ask} answerTo
 * @param {Tell} tell
 */
function createStream(events, answerTo, tell) {
  /** @type {(() => void) | null} */
  let flush = null; // while there is a stream: ends what has failed

  /**
   * Hands on what one connection brings, to its end.
   *
   * @param {Parameters<typeof fetch>} asked
   * @param {(part: string) => void} send
   * @returns {Promise<Trouble | null>} null where the server ended it
   */
  async function relay(asked, send) {
    const { answer, trouble } = await answerTo(asked, true);
    if (trouble) return trouble;
    if (!answer.body) return LOST;
    let heard = false;
    for await (const part of partsOf(answer.body)) {
      const message = JSON.parse(part.slice("data: ".length));
      const { msg, event_id: id } = message;
      if (msg === CLOSE.msg) return heard ? null : LOST; // who ends it at once knows nothing of what is awaited
      if (msg === "unexpected_error") return LOST; // such as from a server that was started afresh
      heard = true;
      const over = msg === "process_completed";
      if (over) events.end(id);
      if (over && !message.success) tell(failedOnServer(message.output?.error));
      send(over && !message.success ? written(nothing(id)) : part);
    }
    return LOST;
  }

  /**
   * Sends what gradio is to hear, until nothing is under way any more.
   *
   * @param {Parameters<typeof fetch>} asked
   * @param {(part: string) => void} send
   * @param {() => boolean} left whether nobody reads it
   */
  async function flow(asked, send, left) {
    const { waiting, failed } = events;
    flush = () => {
      for (const id of failed) send(written(nothing(id)));
      failed.clear();
    };
    flush();
    while (waiting.size && !left()) {
      const trouble = await relay(asked, send).catch(() => LOST);
      if (!trouble) continue;
      if (!left()) tell(trouble);
      for (const id of waiting) send(written(nothing(id)));
      waiting.clear();
    }
    send(written(CLOSE));
    flush = null;
  }

  /** @type {typeof fetch} */
  function stream(...asked) {
    let over = false;
    const { signal } = /** @type {Request} */ (asked[0]);
    const left = () => over || Boolean(signal?.aborted);
    const body = new ReadableStream({
      start(out) {
        const send = (/** @type {string} */ part) => left() || out.enqueue(bytes.encode(`${part}\n\n`));
        flow(asked, send, left).then(() => over || out.close());
      },
      cancel() {
        over = true;
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  }
  return { stream, flush: () => flush?.() };
}

/**
 * @param {typeof fetch} ask the browser's own
 * @param {Tell} tell
 * @returns {typeof fetch} to be used in its place. What the page asks past the queue is answered by a trouble,
 *   which is a message like any of the server's.
 */
export function withEnds(ask, tell) {
  const answerTo = answering(ask);
  const events = createEvents();
  const { stream, flush } = createStream(events, answerTo, tell);

  /** @type {typeof fetch} */
  async function join(...asked) {
    const { answer, trouble } = await answerTo(asked, true);
    const joined = answer
      ? await answer
          .clone()
          .json()
          .catch(() => ({}))
      : {};
    if (answer && joined.event_id) {
      events.join(joined.event_id);
      return answer;
    }
    const mine = events.fail();
    tell(trouble ?? (await troubleOf(answer)));
    flush();
    await new Promise((done) => setTimeout(done)); // gradio hears of a stream's end before it decides to open one
    return Response.json({ event_id: mine });
  }

  /**
   * An event that does not wait in the queue, such as Stop's.
   *
   * @type {typeof fetch}
   */
  async function direct(...asked) {
    const { answer, trouble } = await answerTo(asked, false);
    if (answer) return answer;
    tell(trouble);
    return Response.json({ data: [], is_generating: false });
  }

  /**
   * What the page asks past the queue.
   *
   * @type {typeof fetch}
   */
  async function question(...asked) {
    const { answer, trouble } = await answerTo(asked, false);
    return answer && isJson(answer) ? answer : Response.json(trouble ?? (await troubleOf(answer)));
  }

  /** @type {[string, typeof fetch][]} */
  const ways = [
    ["/queue/join", join],
    ["/queue/data", stream],
    ["/run/predict", direct],
    ["/component_server/", question],
  ];
  return (...asked) => {
    const address = addressOf(asked[0]);
    const [, way = ask] = ways.find(([end]) => address.endsWith(end)) ?? [];
    return way(...asked);
  };
}
