// The address of a view: prompt, language and selection in the part after "#", so that a link brings them back.

const SHORT = { layer: "layer", head: "head", query: "token", key: "key", pair: "pair", neuron: "neuron" };
const RUNS = /^(a-|from-|off-|patch$|side$)/; // fields of linked.js
const LONGEST = 6000; // characters of a panel's setting, such as a pasted configuration

/** @param {string} hash @returns {{ chapter?: string, prompt?: string, language?: string, model?: string, generated: number[], selection: object, settings: Object<string, Object<string, string>>, runs: boolean }} `runs`: whether linked.js finds more */
export function readLink(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const selection = {};
  for (const [name, short] of Object.entries(SHORT)) {
    const value = fields.get(short);
    if (value !== null && /^\d{1,6}$/.test(value)) selection[name] = Number(value);
  }
  const settings = {};
  for (const [field, value] of fields) {
    const [, name, key] = /^([a-z]+)\.([a-z_]+)$/.exec(field) ?? [];
    if (!name || value.length > LONGEST) continue;
    if (!Object.hasOwn(settings, name)) settings[name] = {};
    settings[name][key] = value;
  }
  const generated = (fields.get("more") ?? "").split(".").filter((id) => /^\d{1,7}$/.test(id)).map(Number);
  const optional = (name) => fields.get(name) ?? undefined;
  return { chapter: optional("chapter"), prompt: optional("prompt"), language: optional("lang"), model: optional("model"), generated, selection, settings, runs: [...fields.keys()].some((name) => RUNS.test(name)) };
}

/** @param {object} view, with `more`: the fields of linked.js @returns {string} the hash that readLink reads back */
export function writeLink({ chapter, prompt, language, model, generated = [], selection = {}, settings = {}, more = [] }) {
  const fields = new URLSearchParams();
  if (language) fields.set("lang", language);
  if (model) fields.set("model", model);
  if (chapter) fields.set("chapter", chapter);
  for (const [name, short] of Object.entries(SHORT)) {
    if (selection[name] !== null && selection[name] !== undefined) fields.set(short, selection[name]);
  }
  for (const [name, values] of Object.entries(settings)) {
    for (const [key, value] of Object.entries(values)) fields.set(`${name}.${key}`, value);
  }
  if (prompt !== undefined) fields.set("prompt", prompt);
  if (generated.length) fields.set("more", generated.join("."));
  for (const [name, value] of more) fields.set(name, value);
  return `#${fields}`;
}

/** Keeps the address in step with the store. Browsers allow few changes a second, so it waits for a pause. */
export function keepLink(store) {
  let timer = 0;
  /** The fields of a changed run and of one that is kept; none, and nothing fetched, where there is neither. */
  async function runs() {
    const { trace, kept } = store.state;
    if (!kept && !Object.keys(trace.changes).length) return [];
    const { fieldsOf, runsOf } = await import("./linked.js");
    return fieldsOf(runsOf(store));
  }
  const write = async () => {
    if (!store.state.trace) return;
    const more = await runs();
    const { locked, language, chapter, settings } = store.state;
    const trace = store.sides()?.B ?? store.state.trace;
    const generated = trace.tokens.ids.slice(trace.nPrompt);
    const view = { chapter, prompt: trace.prompt, language, model: trace.model.name, generated, selection: locked, settings, more };
    history.replaceState(history.state, "", writeLink(view));
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(write, 250); };
  for (const event of ["select", "run", "kept", "language", "chapter", "settings"]) store.on(event, later);
}

/** Lets Back and Forward lead through the chapters that were opened; run and selection stay as they are. @param {(name: string) => void} open */
export function keepChapters(store, open) {
  let here = store.state.chapter;
  history.replaceState({ ...history.state, chapter: here }, "");
  store.on("chapter", (name) => {
    if (name !== here) history.pushState({ ...history.state, chapter: name }, "");
    here = name;
  });
  addEventListener("popstate", ({ state }) => {
    if (!state?.chapter) return; // an address that was typed, or a place within the page
    here = state.chapter;
    open(here);
  });
}
