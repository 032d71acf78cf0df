// What is shown, and who draws it: one state. Knows nothing about the server or Python.

import { createAnswered } from "./answered.js";
import { isAwaited, refusesBeside } from "./awaited.js";
import { createComparison } from "./comparison.js";
import { decodeRun, decodeStep } from "./decode.js";
import { createListeners } from "./listeners.js";
import { createPainting } from "./painting.js";
import { pairFinder } from "./pairs.js";
import { computed, reactive } from "./reads.js";
import { createSelection } from "./selection.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./selection.js").Selection} Selection
 *
 * @typedef {Selection & {
 *   run: Trace | null;
 *   trace: Trace | null;
 *   stack: "encoder" | "decoder";
 *   locked: Selection;
 *   pair: number;
 *   language: string;
 *   theme: "light" | "dark";
 *   status: string;
 *   awaited: import("./awaited.js").Awaited | null;
 *   loading: (import("./messages.d.ts").LoadingState & { model: string }) | null;
 *   kept: Trace | null;
 *   side: "A" | "B" | "B-A";
 *   chapter: string;
 *   settings?: Object<string, Object<string, string>>;
 *   presenting?: boolean;
 *   covered?: boolean;
 * }} State
 *   It holds the effective selection (what the pointer previews, over what a click locked), and `locked` the locked.
 *   Where no pair is chosen (null), `pair` is the one that counts most in the score of the effective cell. `run` is
 *   the run that is shown, `trace` what panels read of it: where a network has two stacks, the one that `stack`
 *   names. `status`: "loading", "running", "generating" or "idle"; `awaited`: what was asked for last and has not
 *   come; `loading`: how far the weights are that it waits for; `kept`: the run A; `chapter`, `settings`: as
 *   chapters.js and settings.js put them there, "" before; `presenting`: a lesson is shown; `covered`: what its
 *   view asks is not told yet, so that drawings that are marked data-answer="drawn" leave it out
 */

/**
 * The state before the first run.
 *
 * @param {Selection} locked
 * @returns {State}
 */
function firstState(locked) {
  const pairOf = pairFinder();
  /** @type {{ pair: number | null }} */
  const given = { pair: null };
  return reactive({
    run: null,
    trace: null,
    stack: "decoder",
    ...locked,
    locked,
    language: "en",
    theme: "light",
    status: "loading",
    awaited: null,
    loading: null,
    kept: null,
    side: "B",
    chapter: "",
    /** @returns {number} */
    get pair() {
      return pairOf(given.pair, this);
    },
    /** @param {number | null} pair */
    set pair(pair) {
      given.pair = pair;
    },
  });
}

/**
 * A network that reads its source again makes the same of it: what is known of that stays.
 *
 * @param {Trace | null} encoder of the run before
 * @param {Trace} run
 */
function takeOver(encoder, run) {
  const read = (/** @type {Trace} */ one) => JSON.stringify([one.model.name, one.tokens.ids, one.changes]);
  if (!encoder || !run.encoder || read(encoder) !== read(run.encoder)) return;
  run.encoder = Object.assign(encoder, { id: run.encoder.id, whole: run });
}

export function createStore() {
  const { on, emit } = createListeners();
  const { repaint, drawn, unfinished, watch, unwatch } = createPainting((fresh) => emit("painted", fresh));
  const selection = createSelection(
    (shown) => Object.assign(state, shown),
    () => state.trace,
    (event) => {
      if (event) emit(event, state);
      repaint();
    },
  );
  const state = firstState(selection.locked);
  const { showNew, last, stackOf, ...comparison } = createComparison(state, selection, (event, run) => {
    emit(event, run);
    repaint(true);
  });

  const answered = createAnswered();

  /** @param {State["awaited"]} awaited null: nothing more is to come */
  function awaitRun(awaited) {
    state.awaited = awaited;
    emit("awaited", awaited);
    repaint();
  }

  /** @param {import("./types.d.ts").RunPayload} payload */
  function publishRun(payload) {
    // gradio hands the last message of a stream over twice.
    if (payload.id === state.run?.id && Boolean(payload.generating) === state.run.generating) return;
    if (!isAwaited(state.awaited, payload)) return; // something else was asked for since
    awaitRun(null);
    const run = decodeRun(payload);
    for (const one of new Set([state.kept, last.run, state.run])) if (one) answered.remember(one);
    if (state.run && state.run !== state.kept) takeOver(state.run.encoder, run);
    answered.tell(run);
    showNew(run, selection.opening(stackOf(run), payload.start));
  }

  /**
   * While text is generated: a message holds the last few steps, so that one may be missed; only new ones are
   * decoded.
   *
   * @param {import("./messages.d.ts").StepsMessage} payload
   */
  function publishSteps({ run, steps }) {
    const { run: trace } = state;
    if (trace?.id !== run) return;
    const fresh = steps.filter(({ index }) => index >= trace.steps.length).map(decodeStep);
    if (!fresh.length || fresh[0].index !== trace.steps.length) return; // too much was missed: the whole run follows
    trace.steps = [...trace.steps, ...fresh];
    emit("steps", trace);
    repaint();
  }

  /** @param {import("./types.d.ts").Payload | null | undefined} payload what comes over the bus */
  function publish(payload) {
    if (payload?.kind === "step") return publishSteps(payload);
    if (payload?.kind === "message") {
      if (!refusesBeside(state.awaited, payload.code)) awaitRun(null);
      return emit("message", payload);
    }
    if (payload?.kind !== "run") return undefined;
    publishRun(payload);
    if (payload.note) emit("message", payload.note); // what is to be said of a run that is not all that was asked for
    return undefined;
  }

  const layer = computed(() => state.trace?.layers.get(state.layer) ?? null);
  const { select, selectByPage, chosen, toEnd, preview, endPreview, previewing, pin } = selection;
  return {
    state,
    on,
    emit,
    repaint,
    drawn,
    unfinished,
    watch,
    unwatch,
    select,
    selectByPage,
    chosen,
    toEnd,
    preview,
    endPreview,
    previewing,
    pin,
    ...comparison,
    publish,
    awaitRun,
    layer,
  };
}
