// What was asked for last and has not come: until it is there, what is shown is of the run before.

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {{
 *   prompt: string | null;
 *   model: string | null;
 *   named?: string;
 *   act: "read" | "write" | "change";
 *   entered?: boolean;
 *   blanks?: number;
 * }} Awaited
 *   `prompt`, `model`: of the run that is to come, null where only its answer says that; `named`: the model that is
 *   asked for then; `act`: whether a text is read, written on, or read with something changed in the run;
 *   `entered`: it is asked for once gradio has the answer to what was asked before; `blanks`: how many prompts
 *   without a word were sent while it was awaited, and are still to be refused
 */

const REFUSED = ["prompt_empty", "prompt_blank"]; // what the server says of such a prompt

/** Whether a prompt has no word, so that nothing comes of it. @param {string} prompt */
const isBlank = (prompt) => !prompt.trim();

/**
 * Whether a prompt is sent beside what is awaited, and does not take its place: one without a word, while a text is
 * read. What is being written ends with whatever is sent.
 *
 * @param {Awaited | null} awaited then notes it
 * @param {string} prompt
 */
export function sendsBeside(awaited, prompt) {
  if (!awaited || awaited.act === "write" || !isBlank(prompt)) return false;
  awaited.blanks = (awaited.blanks ?? 0) + 1;
  return true;
}

/**
 * Whether a refusal is of such a prompt, and what is awaited still comes.
 *
 * @param {Awaited | null} awaited then notes it
 * @param {string} code of the message
 */
export function refusesBeside(awaited, code) {
  if (!awaited?.blanks || !REFUSED.includes(code)) return false;
  awaited.blanks--;
  return true;
}

/**
 * Whether a run is what was asked for last.
 *
 * @param {Awaited | null} awaited null where any run may come
 * @param {{ prompt: string; model: { name: string } }} run
 */
export const isAwaited = (awaited, { prompt, model }) =>
  !awaited || ((awaited.prompt ?? prompt) === prompt && (awaited.model ?? model.name) === model.name);

/**
 * Whether what is asked for is another text, or another network's reading of it, than what is shown.
 *
 * @param {Awaited | null} awaited
 * @param {Trace | null} run the one that is shown
 */
const isOfAnother = (awaited, run) =>
  Boolean(awaited && run) && (awaited?.prompt === null || !isAwaited(awaited, /** @type {Trace} */ (run)));

/**
 * gradio holds back what is entered while the same control's event is under way, and asks for it then: from the
 * press on it is what is awaited, and what came before is not shown any more; nothing comes of a prompt without a
 * word, which takes no other's place.
 *
 * @param {import("./types.d.ts").Store} store
 */
export function followEntered({ state, awaitRun }) {
  /** @param {Element} target */
  function enter(target) {
    /** @type {HTMLTextAreaElement | null} */
    const box = document.querySelector("#prompt textarea");
    if (!state.awaited || !box || isBlank(box.value) || !target.closest("#run, #prompt")) return;
    awaitRun({ prompt: box.value, model: state.awaited.model, act: "read", entered: true });
  }
  const isEnter = (/** @type {KeyboardEvent} */ { key, shiftKey, isComposing }) =>
    key === "Enter" && !shiftKey && !isComposing;
  addEventListener("keydown", (event) => {
    if (isEnter(event) && event.target instanceof HTMLTextAreaElement) enter(event.target);
  });
  addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("#run")) enter(target);
  });
}

/**
 * How far a network's weights are, in words: never all of them before the server says so.
 *
 * @param {NonNullable<import("./store.js").State["loading"]>} loading
 * @param {import("./types.d.ts").Texts["text"]} text
 * @param {(model: string) => string} nameOf what a reader calls a network
 */
function loadingText({ model, done, total }, text, nameOf) {
  return text("page.loading", { model: nameOf(model), percent: `${Math.floor((100 * done) / total)}%` });
}

/**
 * What is under way, in words: of a text that is read, whose reading that is.
 *
 * @param {import("./store.js").State} state
 * @param {import("./types.d.ts").Texts["text"]} text
 * @param {(model: string) => string} nameOf what a reader calls a network
 */
export function awaitedText({ awaited, run, loading }, text, nameOf) {
  if (loading) return loadingText(loading, text, nameOf);
  const model = awaited?.model ?? run?.model.name;
  const isKnown = awaited !== null && awaited.prompt !== null && model !== undefined;
  return isKnown ? text("page.reading", { model: nameOf(model) }) : text("page.running");
}

/**
 * Says at every scene and panel whose reading is awaited, and has what is of the run before dimmed (glass.css).
 *
 * @param {import("./types.d.ts").Store} store
 * @param {import("./types.d.ts").Texts} texts
 * @param {(model: string) => string} nameOf what a reader calls a network
 */
export function followAwaited({ state, on }, { text }, nameOf) {
  function say() {
    const other = isOfAnother(state.awaited, state.run);
    document.body.toggleAttribute("data-awaits", other);
    document.body.style.setProperty("--awaits", other ? JSON.stringify(awaitedText(state, text, nameOf)) : "none");
  }
  for (const event of ["awaited", "language", "run", "loading"]) on(event, say);
}
