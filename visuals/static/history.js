// Back and Forward. Each run and each chapter that is opened is an entry of the browser's history, with all that it
// shows in its address; what is selected, set or kept within an entry is written into that address.

import { writeLink } from "./link.js";

const HELD = 8; // entries whose run stays here, so that going back to it asks nothing; of others the address tells it
const PAUSE = 250; // ms: browsers allow few changes of the address a second

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./types.d.ts").Store} Store
 */

/**
 * What makes two runs the same, whatever the server calls them.
 *
 * @param {Trace} trace
 */
const keyOf = ({ model, prompt, nPrompt, tokens, changes }) =>
  JSON.stringify([model.name, prompt, nPrompt, tokens.ids, changes]);

/**
 * Whether what is seen is another run than what was seen last.
 *
 * @param {View} seen
 * @param {View | undefined} last
 */
const isOther = (seen, last) => seen.trace !== last?.trace && (!last || keyOf(seen.trace) !== keyOf(last.trace));

/**
 * What an entry shows; null before the first run.
 *
 * @param {Store} store
 */
function viewOf({ state, runs, chosen }) {
  const { kept, side, locked, language, chapter, settings } = state;
  const two = runs();
  const trace = two?.B ?? state.run;
  if (!trace) return null;
  return {
    trace,
    kept,
    side,
    two,
    locked: { ...locked },
    chosen: chosen(),
    language,
    chapter,
    settings: { ...settings },
  };
}

/**
 * @typedef {NonNullable<ReturnType<typeof viewOf>>} View
 *
 * @typedef {{ name: string; grows: boolean; view?: View }} Entry of the browser's history; `grows`: a text is being
 *   written in it
 */

/**
 * The address of a view; null while linked.js, which it needs, is on its way.
 *
 * @param {View} view
 * @param {typeof import("./linked.js") | null} linked
 */
function addressOf({ trace, kept, side, two, locked, language, chapter, settings }, linked) {
  const changed = kept || Object.keys(trace.changes).length > 0;
  if (changed && !linked) return null;
  const more =
    changed && linked ? linked.fieldsOf(linked.runsOf({ state: { run: trace, kept, side }, runs: () => two })) : [];
  return writeLink({
    chapter,
    prompt: trace.prompt,
    language,
    model: trace.model.name,
    generated: trace.tokens.ids.slice(trace.nPrompt),
    selection: locked,
    settings,
    more,
  });
}

/** The entries whose runs stay here: of the newest. */
function createEntries() {
  const own = `${performance.timeOrigin}-`; // of this load: an entry of an earlier one has only its address
  /** @type {Map<string, Entry>} */
  const entries = new Map(); // by name, the last used last
  let made = 0;
  return {
    /** @returns {Entry} */
    create: () => ({ name: own + made++, grows: false }),
    get: (/** @type {string} */ name) => entries.get(name),
    /**
     * Holds the newest entries' runs and lets go of the others'.
     *
     * @param {Entry} entry
     */
    hold(entry) {
      entries.delete(entry.name);
      entries.set(entry.name, entry);
      for (const old of [...entries.keys()].slice(0, -HELD)) entries.delete(old);
    },
  };
}

/**
 * The entry that is shown, and its address in the browser's bar.
 *
 * @param {Store} store
 * @param {() => boolean} away whether another entry, or address, is on its way
 */
function createHere(store, away) {
  const { state } = store;
  const { create, get, hold } = createEntries();
  /** @type {Entry | null} */
  let here = null;
  /** @type {typeof import("./linked.js") | null} */
  let linked = null; // linked.js, where a run is changed or kept
  let timer = 0;

  const stop = () => {
    clearTimeout(timer);
    timer = 0;
  };
  function write() {
    stop();
    if (away() || !here?.view) return;
    const address = addressOf(here.view, linked);
    if (address) return void history.replaceState({ entry: here.name }, "", address);
    import("./linked.js").then((module) => {
      linked = module;
      write();
    });
  }

  /** Whether what is seen is no entry: while another is on its way; and a lesson is one way, not a heap of entries. */
  const passing = () => away() || state.presenting;

  /**
   * Makes what is seen an entry of the browser's history: a new one, or at first the one that there is.
   *
   * @param {string} name
   * @param {View} seen
   * @param {boolean} isNew
   */
  function enter(name, seen, isNew) {
    const [entry, address] = [{ entry: name }, addressOf(seen, linked) ?? location.hash];
    if (isNew) history.pushState(entry, "", address);
    else history.replaceState(entry, "", address);
  }

  /**
   * Takes what is seen into the entry, or begins the next with it. A text that is being written is one entry,
   * however often the run of it so far is shown.
   *
   * @param {View} seen
   */
  function take(seen) {
    const last = here?.view;
    const { generating } = seen.trace;
    const other = isOther(seen, last);
    if (last && (seen.chapter !== last.chapter || (other && !here?.grows))) {
      if (timer) write();
      here = null;
    }
    const fresh = here === null;
    here ??= create();
    if (fresh || other || !generating) here.grows = (other || fresh) && generating && Boolean(last);
    // The run from which a text is being written stays as it was: what is written is the next entry.
    here.view = last && !other && !fresh && generating ? { ...seen, trace: last.trace, two: last.two } : seen;
    hold(here);
    if (fresh) enter(here.name, seen, Boolean(last));
    clearTimeout(timer);
    timer = setTimeout(write, PAUSE);
  }

  return {
    /** Takes note of what is seen. */
    note() {
      const seen = passing() ? null : viewOf(store);
      if (seen) take(seen);
    },
    stop,
    /**
     * Goes to an entry by its name; gives what it held, if that is still here.
     *
     * @param {string} name
     */
    goTo(name) {
      const held = get(name);
      here = held ?? { name, grows: false };
      return held?.view;
    },
    /** What the entry shows; a lesson, which is no entry, leaves it as it was. */
    held: () => here?.view,
    /** What is shown now is what the entry shows. */
    settle() {
      const seen = viewOf(store);
      if (!here || !seen) return;
      here.view = seen;
      hold(here);
      write();
    },
    /** @returns {Promise<string>} the address of what is shown now; before the first run the one that was opened */
    async address() {
      linked ??= await import("./linked.js");
      const seen = viewOf(store);
      return (seen && addressOf(seen, linked)) ?? location.hash;
    },
  };
}

/**
 * Resolves when nothing is being written any more.
 *
 * @param {Store} store
 * @param {() => void} stop ends what is being written
 * @returns {Promise<void>}
 */
const written = ({ state, on }, stop) =>
  new Promise((done) => {
    if (state.status !== "generating") return done();
    const off = [on("run", (/** @type {Trace} */ trace) => trace.generating || end()), on("message", () => end())];
    const end = () => {
      off.forEach((one) => one());
      done();
    };
    return stop();
  });

/**
 * @param {Store} store
 * @param {{
 *   open: (chapter: string) => void;
 *   fill: (bar: { prompt: string; model: string }) => void;
 *   stop: () => void;
 *   bring: (hash: string) => Promise<void>;
 *   follow: () => Promise<void>;
 *   settings: Pick<import("./types.d.ts").Settings, "set" | "restore">;
 * }} page
 *   `fill` puts a prompt and a model into the bar, `stop` ends what is being written, `bring` shows what an address
 *   describes, and `follow` opens an address that was pasted
 */
export function keepHistory(store, { open, fill, stop, bring, follow, settings }) {
  const { state } = store;
  let going = 0; // which way back is under way, 0 for none
  let ways = 0;
  let left = false; // a pasted address is being opened
  const here = createHere(store, () => left || going > 0);

  /** @param {View} view */
  function show({ trace, kept, side, locked, chosen, chapter, settings: { run: read = {} } }) {
    settings.set("run", read); // which of two stacks panels read: a place is one in that
    if (chapter !== state.chapter) open(chapter);
    const last = viewOf(store);
    if (trace !== last?.trace) fill({ prompt: trace.prompt, model: trace.model.name });
    store.awaitRun(null); // who goes back does not wait any more
    if (trace !== last?.trace || kept !== last.kept || side !== last.side) store.revive({ trace, kept, side });
    if (chosen) store.select(locked);
    else store.selectByPage(locked);
  }

  /**
   * Shows an entry.
   *
   * @param {() => View | undefined} find what it held, if that is still here
   */
  async function come(find) {
    here.stop();
    const mine = (going = ++ways);
    const { hash } = location;
    await written(store, stop);
    if (mine !== going) return; // gone on meanwhile
    const from = state.chapter;
    const held = find();
    if (held) show(held);
    else await bring(hash);
    if (mine !== going) return;
    going = 0;
    here.settle();
    store.emit("returned", from);
  }

  for (const event of ["select", "run", "kept", "language", "chapter", "settings"]) store.on(event, here.note);
  addEventListener("popstate", (event) => {
    const { entry } = event.state ?? {};
    if (entry) come(() => here.goTo(entry)); // one that Back or Forward lead to
  });
  addEventListener("hashchange", () => {
    if (history.state?.entry) return; // one of this page's own, which popstate leads to
    left = true;
    follow().finally(() => {
      left = false;
    });
  });
  return {
    address: here.address,
    /** Shows again what the entry showed before a lesson, settings and all. */
    entryAgain: () =>
      come(() => {
        const held = here.held();
        if (held) settings.restore(held.settings);
        return held;
      }),
  };
}
