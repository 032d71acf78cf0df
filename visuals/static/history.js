// Back and Forward. Each run and each chapter that is opened is an entry of the browser's history, with all that it
// shows in its address; what is selected, set or kept within an entry is written into that address.

import { writeLink } from "./link.js";

const HELD = 8; // entries whose run stays here, so that going back to it asks nothing; of others the address tells it
const PAUSE = 250; // ms: browsers allow few changes of the address a second

/** What makes two runs the same, whatever the server calls them. */
const keyOf = ({ model, prompt, nPrompt, tokens, changes }) =>
  JSON.stringify([model.name, prompt, nPrompt, tokens.ids, changes]);

/** Whether what is seen is another run than what was seen last. */
const isOther = (seen, last) => seen.trace !== last?.trace && (!last || keyOf(seen.trace) !== keyOf(last.trace));

/**
 * @param {object} store
 * @param {{
 *   open: (chapter: string) => void;
 *   fill: (bar: { prompt: string; model: string }) => void;
 *   stop: () => void;
 *   bring: (hash: string) => Promise<void>;
 *   follow: () => Promise<void>;
 *   settings: { set: Function };
 * }} page
 *   `fill` puts a prompt and a model into the bar, `stop` ends what is being written, `bring` shows what an address
 *   describes, and `follow` opens an address that was pasted
 */
export function keepHistory(store, { open, fill, stop, bring, follow, settings }) {
  const { state } = store;
  const name = `${performance.timeOrigin}-`; // of this load: an entry of an earlier one has only its address
  const entries = new Map(); // by name, the last used last
  let here = null; // the entry that is shown
  let linked = null; // linked.js, where a run is changed or kept
  let timer = 0;
  let going = 0; // which way back is under way, 0 for none
  let ways = 0;
  let left = false; // a pasted address is being opened

  /** @returns what an entry shows */
  function view() {
    const { kept, side, locked, language, chapter, settings } = state;
    const two = store.runs();
    return {
      trace: two?.B ?? state.run,
      kept,
      side,
      two,
      locked: { ...locked },
      chosen: store.chosen(),
      language,
      chapter,
      settings: { ...settings },
    };
  }

  /** The address of a view; null while linked.js, which it needs, is on its way. */
  function addressOf({ trace, kept, side, two, locked, language, chapter, settings }) {
    const changed = kept || Object.keys(trace.changes).length > 0;
    if (changed && !linked) return null;
    const more = changed ? linked.fieldsOf(linked.runsOf({ state: { run: trace, kept, side }, runs: () => two })) : [];
    const generated = trace.tokens.ids.slice(trace.nPrompt);
    return writeLink({
      chapter,
      prompt: trace.prompt,
      language,
      model: trace.model.name,
      generated,
      selection: locked,
      settings,
      more,
    });
  }

  function write() {
    clearTimeout(timer);
    timer = 0;
    if (left || going || !here) return;
    const address = addressOf(here.view);
    if (address) return void history.replaceState({ entry: here.name }, "", address);
    import("./linked.js").then((module) => {
      linked = module;
      write();
    });
  }

  /** Holds the newest entries' runs and lets go of the others'. */
  function hold(entry) {
    entries.delete(entry.name);
    entries.set(entry.name, entry);
    for (const old of [...entries.keys()].slice(0, -HELD)) entries.delete(old);
  }

  /** Whether what is seen is no entry: while another is on its way; and a lesson is one way, not a heap of entries. */
  const passing = () => left || going || !state.trace || state.presenting;

  /** Makes what is seen an entry of the browser's history: a new one, or at first the one that there is. */
  function enter(seen, isNew) {
    const [entry, address] = [{ entry: here.name }, addressOf(seen) ?? location.hash];
    if (isNew) history.pushState(entry, "", address);
    else history.replaceState(entry, "", address);
  }

  /** A text that is being written is one entry, however often the run of it so far is shown. */
  function note() {
    if (passing()) return;
    const [seen, last] = [view(), here?.view];
    const other = isOther(seen, last);
    if (last && (seen.chapter !== last.chapter || (other && !here.grows))) {
      if (timer) write();
      here = null;
    }
    const fresh = here === null;
    here ??= { name: name + ways++, grows: false };
    if (fresh || other || !seen.trace.generating)
      here.grows = (other || fresh) && seen.trace.generating && Boolean(last);
    // The run from which a text is being written stays as it was: what is written is the next entry.
    here.view =
      last && !other && !fresh && seen.trace.generating ? { ...seen, trace: last.trace, two: last.two } : seen;
    hold(here);
    if (fresh) enter(seen, Boolean(last));
    clearTimeout(timer);
    timer = setTimeout(write, PAUSE);
  }
  for (const event of ["select", "run", "kept", "language", "chapter", "settings"]) store.on(event, note);

  /** Resolves when nothing is being written any more. */
  const written = () =>
    new Promise((done) => {
      if (state.status !== "generating") return done();
      const off = [store.on("run", (trace) => trace.generating || end()), store.on("message", () => end())];
      const end = () => {
        off.forEach((one) => one());
        done();
      };
      stop();
    });

  function show({ trace, kept, side, locked, chosen, chapter, settings: { run: read = {} } }) {
    settings.set("run", read); // which of two stacks panels read: a place is one in that
    if (chapter !== state.chapter) open(chapter);
    const last = view();
    if (trace !== last.trace) fill({ prompt: trace.prompt, model: trace.model.name });
    if (trace !== last.trace || kept !== last.kept || side !== last.side) store.revive({ trace, kept, side });
    if (chosen) store.select(locked);
    else store.selectByPage(locked);
  }

  /** To an entry that Back or Forward lead to. */
  async function go(to) {
    clearTimeout(timer);
    timer = 0;
    const mine = (going = ++ways);
    const held = entries.get(to);
    const { hash } = location;
    await written();
    if (mine !== going) return; // gone on meanwhile
    here = held ?? { name: to, grows: false };
    if (held) show(held.view);
    else await bring(hash);
    if (mine !== going) return;
    going = 0;
    if (!state.trace) return;
    here.view = view();
    hold(here);
    write();
  }

  addEventListener("popstate", (event) => {
    if (event.state?.entry) go(event.state.entry);
  });
  /** @returns {Promise<string>} the address of what is shown now */
  async function address() {
    linked ??= await import("./linked.js");
    return addressOf(view());
  }
  addEventListener("hashchange", () => {
    if (history.state?.entry) return; // one of this page's own, which popstate leads to
    left = true;
    follow().finally(() => {
      left = false;
    });
  });
  return { address };
}
