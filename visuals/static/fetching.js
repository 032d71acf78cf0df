// What a run did not bring with it: other layers, other tokens' neurons. Asked of the server once, in the background.

import { createAhead, idleNow, NEURON_BYTES, neuronBytes } from "./prefetch.js";
import { decodeAll, decodeAllNeurons, decodeLayer, decodeNeurons, textOf } from "./decode.js";
import { LOST } from "./unanswered.js";

/** The server with its questions counted: `count()` of them have no answer yet. */
function counted(server) {
  let open = 0;
  const counting = (ask) => (request) => {
    open += 1;
    return ask(request).finally(() => {
      open -= 1;
    });
  };
  const asked = Object.entries(server).map(([name, ask]) => [name, counting(ask)]);
  return { ...Object.fromEntries(asked), count: () => open };
}

/**
 * @param store
 * @param {{
 *   layer: Function;
 *   neurons: Function;
 *   rerun: Function;
 *   detail: Function;
 *   calculate: Function;
 *   change: Function;
 *   recall: Function;
 *   cut: Function;
 * }} functions
 *   functions of app/build.py; each gives a message
 * @param {Promise<unknown>} [there] until then nothing is fetched ahead
 */
export function createFetching(store, functions, there = Promise.resolve()) {
  const server = counted(functions);
  const asked = new Map();
  const { state } = store;
  const idle = () => there.then(idleNow);

  /** The runs that panels show: one, or where they show a difference both. */
  const inUse = () =>
    state.side === "B-A" && state.kept
      ? [state.trace, store.sides()?.A ?? state.kept]
      : state.trace
        ? [state.trace]
        : [];
  const used = (trace) => inUse().includes(trace);
  /**
   * Whether an answer about a run is still wanted: of two runs that are compared both are, whichever is shown, and
   * of two stacks the whole.
   */
  const wanted = (trace) =>
    used(trace) ||
    trace === state.run ||
    [store.sides(), store.runs()].some((two) => Object.values(two ?? {}).includes(trace));

  /** Asks once for each name; resolves to whether the answer was used. What a run that is gone asked for is dropped. */
  function once(name, trace, ask, use) {
    const answered = async () => {
      const payload = await ask();
      if (!wanted(trace)) return false;
      if (payload.kind === "message") return renew(payload, trace);
      use(payload);
      store.repaint();
      return true;
    };
    const failed = () => {
      if (wanted(trace)) store.emit("message", LOST);
      return false;
    };
    if (!asked.has(name))
      asked.set(
        name,
        answered()
          .catch(failed)
          .finally(() => asked.delete(name)),
      );
    return asked.get(name);
  }

  /** The server let go of the run: run the same tokens again, and keep the selection. */
  async function renew(message, trace) {
    if (message.code !== "run_expired") {
      store.emit("message", message);
      return false;
    }
    const run = trace.whole ?? trace;
    // While a text is written the server keeps the last run of it alone; the next one is on its way and asks anew.
    if (run.generating) return false;
    const { model, prompt, changes } = run;
    const request = { model: model.name, ...textOf(run), prompt, layer: state.layer, changes };
    await once(
      `${run.id} rerun`,
      trace,
      () => server.rerun(request),
      (payload) => {
        if (run !== state.run) {
          // the run kept as A: its numbers stay, the server knows it by another name
          run.id = payload.id;
          if (run.encoder) run.encoder.id = payload.encoder.id;
          return need();
        }
        store.pin({ ...state.locked });
        store.publish({ ...payload, source: run.source });
      },
    );
    return false;
  }

  function fetchLayer(trace, layer, token) {
    if (trace.layers.has(layer)) return Promise.resolve(true);
    return once(
      `${trace.id} ${layer}`,
      trace,
      () => server.layer({ run: trace.id, layer, token }),
      (payload) => {
        trace.layers.set(layer, decodeLayer(payload, trace.model));
      },
    );
  }

  function fetchNeurons(trace, layer, token) {
    const held = trace.layers.get(layer);
    if (!held || held.neurons.has(token)) return;
    once(
      `${trace.id} ${layer} ${token}`,
      trace,
      () => server.neurons({ run: trace.id, layer, token }),
      (payload) => {
        held.neurons.set(token, decodeNeurons(payload, held.ffn));
      },
    );
  }

  /**
   * A layer of one of two runs that are compared, whichever is shown; null until it has come. Then the panels are
   * drawn again.
   */
  function layerOf(trace, layer) {
    const held = trace.layers.get(layer) ?? null;
    if (!held && !store.previewing()) fetchLayer(trace, layer, trace.T - 1);
    return held;
  }

  /** All tokens' neurons of the locked layer, if they are small. */
  async function fetchAllNeurons(trace) {
    await idle();
    const { locked } = state;
    const held = trace.layers.get(locked.layer);
    if (!held || !used(trace) || held.neurons.size === trace.T || neuronBytes(trace) > NEURON_BYTES) return;
    const request = { run: trace.id, layer: locked.layer, token: null };
    await once(
      `${trace.id} ${locked.layer} all`,
      trace,
      () => server.neurons(request),
      (payload) => {
        held.neurons = decodeAllNeurons(payload, held.ffn);
      },
    );
  }

  /** Fetches what the locked selection needs. Hovering never asks: it shows what is there. */
  async function needOf(trace) {
    const { layer } = state.locked;
    const query = Math.min(state.locked.query, trace.T - 1); // the run kept as A may be shorter
    if (!(await fetchLayer(trace, layer, query))) return;
    fetchNeurons(trace, layer, query);
    fetchAllNeurons(trace);
  }
  const need = () => Promise.all(comparable().map(needOf));

  /** The runs in use, without a run kept as A of another model, whose layers are not the ones that are selected. */
  const comparable = () => inUse().filter(({ model }) => model.name === state.trace.model.name);

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
  function detail(what, params = {}, trace = state.trace) {
    const { id } = trace;
    const key = `${what} ${JSON.stringify(params)}`;
    const { details } = trace;
    if (details.has(key)) return details.get(key);
    if (store.previewing()) return null; // asked when that ends: then the panel is drawn again
    once(
      `${id} ${key}`,
      trace,
      () => server.detail({ run: id, what, ...params }),
      (payload) => {
        details.set(key, decodeAll(payload.data));
      },
    ).then((came) => {
      if (!came && wanted(trace) && trace.id === id) details.set(key, null); // said once; the next run asks anew
    });
    return null;
  }

  /**
   * The answer to one of app/chapters' CALCULATORS, which needs no run.
   *
   * @template {keyof import("./messages.d.ts").Calculations} What
   * @param {What} what
   * @param {object} params
   * @returns {Promise<{
   *   data?: import("./decoded.d.ts").Calculation<What>;
   *   message?: Pick<import("./messages.d.ts").Notice, "level" | "code">;
   * }>}
   *   the data, or what went wrong, for the asker to show
   */
  async function calculate(what, params = {}) {
    try {
      const payload = await server.calculate({ ...params, what });
      return payload.kind === "message" ? { message: payload } : { data: decodeAll(payload.data) };
    } catch {
      return { message: LOST };
    }
  }

  /**
   * Runs the shown tokens once more with these changes (app/comparing.py).
   *
   * @param {object} changes
   */
  async function change(changes) {
    const { run: trace, locked, kept } = state;
    const source = changes.patches?.length ? kept : null;
    await once(
      `${trace.id} change`,
      trace,
      () => server.change({ run: trace.id, changes, layer: locked.layer }),
      (payload) => {
        store.pin({ ...locked });
        store.publish({ ...payload, source });
      },
    );
  }

  /** Runs what was written when the connection broke, as far as it came. */
  async function whole(trace) {
    const { model, prompt, steps, changes } = trace;
    const { ids, n_prompt } = textOf(trace);
    const all = [...ids.slice(0, n_prompt), ...steps.map(({ id }) => id)];
    const request = { model: model.name, ids: all, prompt, n_prompt, layer: state.layer, changes };
    await once(`${trace.id} whole`, trace, () => server.rerun(request), store.publish);
  }

  /**
   * The message of a run that a link describes: {prompt, model, generated, changes, layer}.
   *
   * @returns {Promise<object>}
   */
  const recall = (described) => server.recall(described);

  const prefetch = createAhead(state, { fetchLayer, comparable, used, idle });

  store.on("select", need);
  for (const event of ["run", "stack"])
    store.on(event, () => {
      need();
      prefetch();
    });
  return { need, prefetch, layerOf, detail, calculate, change, recall, whole, cut: server.cut, asking: server.count };
}
