// What a run did not bring with it: other layers, other tokens' neurons. Asked of the server once, in the background.

import { decodeAll } from "./decode.js";
import { createLayers } from "./layers.js";
import { createAhead, createExpected, idleNow } from "./prefetch.js";
import { counted, createOnce } from "./questions.js";
import { createRenewal, createReruns } from "./reruns.js";
import { createInUse } from "./runs-in-use.js";
import { LOST } from "./unanswered.js";
import { noteAnswer } from "./withheld.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./types.d.ts").Server} Server
 *
 * @typedef {import("./types.d.ts").Store} Store
 */

const MOST_SUMS = 50; // that are remembered
const AHEAD_WAITS = 1000; // ms that what is fetched ahead lets other questions go before it

/**
 * What a run's details go by: a question about it.
 *
 * @param {string} what
 * @param {object} params
 */
const questionKey = (what, params) => `${what} ${JSON.stringify(params)}`;

/**
 * Whether it is known what there is to be said to a question about a run: its answer has come, or will not come.
 *
 * @param {Trace} trace
 * @param {string} what
 * @param {object} [params]
 */
export const isSettled = ({ details }, what, params = {}) => details.has(questionKey(what, params));

/**
 * The questions about a run that have an answer here, as `questionKey` writes them.
 *
 * @param {Trace} trace
 * @returns {({ what: string } & Record<string, unknown>)[]}
 */
export const answeredAbout = ({ details }) =>
  [...details.keys()]
    .filter((key) => details.get(key))
    .map((key) => ({ what: key.slice(0, key.indexOf(" ")), ...JSON.parse(key.slice(key.indexOf(" "))) }));

/**
 * Answers to app/chapters' DETAILS.
 *
 * @param {Store} store
 * @param {Server} server
 * @param {ReturnType<typeof createOnce>} once
 * @param {(trace: Trace) => boolean} wanted
 */
function createDetails({ state, previewing, repaint }, server, once, wanted) {
  /** @type {Set<string>} questions whose answers a file of runs does not hold */
  const lacking = new Set();

  /**
   * The answer to one of app/chapters' DETAILS about a run in use, or one of two that are compared, or null until
   * it has come; the panels are then drawn again. Asks the server once, and not while the pointer only previews.
   *
   * @template {keyof import("./messages.d.ts").Details} What
   * @param {What} what
   * @param {object} params
   * @param {import("./decode.js").Trace} trace
   * @returns {import("./decoded.d.ts").Detail<What> | null}
   */
  return function detail(what, params = {}, trace = /** @type {Trace} */ (state.trace)) {
    const { id, details } = trace;
    const key = questionKey(what, params);
    const found = details.get(key);
    const name = `${id} ${key}`;
    noteAnswer(what, lacking.has(name), found === undefined);
    if (found !== undefined) return found;
    if (previewing()) return null; // asked when that ends: then the panel is drawn again
    const ask = async () => {
      const payload = await server.detail({ run: id, what, ...params });
      if (payload.kind === "message" && payload.code === "file_lacks") lacking.add(name);
      return payload;
    };
    once(name, trace, ask, (payload) => details.set(key, decodeAll(payload.data))).then((came) => {
      if (came || !wanted(trace) || trace.id !== id) return;
      details.set(key, null); // said once; the next run asks anew
      repaint();
    });
    return null;
  };
}

/**
 * @param {Store} store
 * @param {Server} functions
 * @param {Promise<unknown>} [there] until then nothing is fetched ahead
 */
export function createFetching(store, functions, there = Promise.resolve()) {
  const { server, count, quiet } = counted(functions);
  const { used, wanted, comparable } = createInUse(store);
  const idle = () => there.then(() => quiet(AHEAD_WAITS)).then(idleNow);
  /** @type {ReturnType<typeof createOnce>} */
  const once = createOnce(
    store,
    wanted,
    createRenewal(
      store,
      server,
      () => once,
      () => need(),
    ),
  );
  const { fetchLayers, fetchSelected, layerOf } = createLayers(store, server, once, used, idle);

  /** Fetches what the locked selection needs. Hovering shows what is there. */
  const need = () => Promise.all(comparable().map(fetchSelected));
  const prefetch = createAhead(store.state, { fetchLayers, comparable, used, idle });
  const expect = createExpected(store.state, { fetchLayers, comparable });

  /** @type {Map<string, { what: string }>} what was asked without a run, for a file of the page */
  const sums = new Map();
  /** @param {{ what: string }} question */
  function noteSum(question) {
    const key = JSON.stringify(question);
    sums.delete(key);
    sums.set(key, question);
    if (sums.size > MOST_SUMS) sums.delete([...sums.keys()][0]);
  }

  /**
   * The answer to one of app/chapters' CALCULATORS, which needs no run.
   *
   * @template {keyof import("./messages.d.ts").Calculations} What
   * @param {What} what
   * @param {object} params
   * @returns {Promise<{
   *   data?: import("./decoded.d.ts").Calculation<What>;
   *   message?: import("./types.d.ts").Refusal;
   * }>}
   *   the data, or what went wrong, for the asker to show
   */
  async function calculate(what, params = {}) {
    try {
      const payload = await server.calculate({ ...params, what });
      noteSum({ ...params, what });
      return payload.kind === "message"
        ? { message: payload }
        : { data: /** @type {import("./decoded.d.ts").Calculation<What>} */ (decodeAll(payload.data)) };
    } catch {
      return { message: LOST };
    }
  }

  for (const event of ["select", "run", "stack"])
    store.on(event, () => {
      need();
      prefetch();
    });
  store.on("awaited", prefetch); // what was asked for was refused: the run that is shown stays
  store.on("preview", () => expect(store.state.layer));
  return {
    need,
    expect,
    /** The server is back: fetches what is missing. */
    async again() {
      once.forgive();
      await need();
      await prefetch();
    },
    layerOf,
    detail: createDetails(store, server, once, wanted),
    calculate,
    ...createReruns(store, server, once),
    /** The message of a run that a link describes. */
    recall: server.recall,
    cut: server.cut,
    oneFile: server.one_file,
    /** What was asked without a run, the last of it last. */
    calculations: () => [...sums.values()],
    asking: count,
  };
}
