// What is shown, and who draws it: one state, at most one repaint an animation frame. Knows nothing about the server or
// Python.

import { keysSeen } from "./compute.js";
import { pairsOf } from "./rotation.js";
import { decodeRun, decodeStep } from "./decode.js";
import { pairFinder } from "./pairs.js";
import { computed, unfinished, reactive } from "./reads.js";

/**
 * @typedef {{
 *   layer: number;
 *   head: number;
 *   query: number;
 *   key: number;
 *   pair: number | null;
 *   neuron: number | null;
 * }} Selection
 *   `state` holds the effective values (what the pointer previews, over what a click locked); `state.locked` the
 *   locked. Where no pair is chosen (null), `state.pair` is the one that counts most in the score of the effective
 *   cell. `state.run` is the run that is shown, `state.trace` what panels read of it: where a network has two
 *   stacks, the one that `state.stack` names.
 */

/** @returns {Selection} */
const firstSelection = () => ({ layer: 0, head: 0, query: 0, key: 0, pair: null, neuron: null });

/** Whether a change says where in the run to look. */
const names = (change) => ["layer", "head", "query", "key"].some((name) => change[name] !== undefined);

/** Selection with every index inside the run, and the key never where the mask hides it. */
export function clamp(selection, trace) {
  if (!trace) return selection;
  const within = (value, count) => Math.max(0, Math.min(Math.trunc(value) || 0, count - 1));
  const { n_layers, n_heads, parts } = trace.model;
  const layer = within(selection.layer, n_layers);
  const query = within(selection.query, trace.T);
  const key = within(selection.key, keysSeen(trace.model, query, trace.T));
  return {
    layer,
    head: within(selection.head, n_heads),
    query,
    key,
    pair: selection.pair === null ? null : within(selection.pair, Math.max(1, pairsOf(trace.model))),
    neuron: selection.neuron === null ? null : within(selection.neuron, parts.ffn[layer].neurons),
  };
}

/** Where the selection goes when `next` takes the place of `last`: it stays, but follows a last token. */
export function follow(locked, last, next) {
  // which may part the text otherwise
  const otherModel = last && last.model.name !== next.model.name && last.prompt === next.prompt;
  const sameText = otherModel || last?.tokens.ids.slice(0, next.T).every((id, i) => id === next.tokens.ids[i]);
  const wasLast = last && locked.query === last.T - 1;
  if (sameText && (!wasLast || next.T === last.T)) return locked;
  return { ...locked, query: next.T - 1, key: Math.max(0, next.T - 2) };
}

export function createStore() {
  const locked = reactive(firstSelection());
  const previewed = {};
  const [pairOf, given] = [pairFinder(), { pair: null }];
  const state = reactive({
    run: null,
    trace: null,
    stack: "decoder",
    ...locked,
    locked,
    language: "en",
    theme: "light",
    status: "loading",
    kept: null,
    side: "B",
    get pair() {
      return pairOf(given.pair, this);
    },
    set pair(pair) {
      given.pair = pair;
    },
  });
  /**
   * Called with whether the run is new; what a painter returns is called when all have painted.
   *
   * @type {Set<(fresh: boolean) => (() => void) | void>}
   */
  const painters = new Set();
  /** @type {Map<string, Set<Function>>} */
  const listeners = new Map();
  let waiting = false; // a repaint is to come
  let painted = false; // this animation frame has had its repaint
  let freshRun = false;
  let pinned = null;
  let unavailable = {}; // of the reader's place, what the shown network has no such layer, head, pair or neuron for
  let userChose = false; // whether the reader, or a link, has chosen where to look
  const last = reactive({ run: null }); // the last run that came, which is shown unless a reader looks at A

  const on = (event, listener) => {
    if (!listeners.has(event)) listeners.set(event, new Set());
    listeners.get(event).add(listener);
    return () => listeners.get(event).delete(listener);
  };
  const emit = (event, detail) => listeners.get(event)?.forEach((listener) => listener(detail));

  function paintAll() {
    const fresh = freshRun;
    waiting = freshRun = false;
    painted = true;
    requestAnimationFrame(() => {
      painted = false;
    });
    // Text on a canvas makes the browser bring every style up to date: elements are changed when all canvases are
    // drawn.
    const rest = /** @type {((() => void) | undefined)[]} */ ([...painters].map((paint) => paint(fresh)));
    rest.forEach((change) => change?.());
    emit("painted", fresh);
  }

  /**
   * Draws every panel, at most once an animation frame: right after the event that asks first, so that nobody waits
   * for a frame to begin, and what comes later in the same frame with the next one.
   *
   * @param {boolean} fresh the run changed, not only the selection
   */
  function repaint(fresh = false) {
    freshRun ||= fresh;
    if (waiting) return;
    waiting = true;
    if (painted) requestAnimationFrame(paintAll);
    else queueMicrotask(paintAll);
  }

  /** Whether everything is drawn with what is here. */
  const drawn = () => !waiting;

  /** For a drawing that is to go on in the next frame, and what it is a part of. */
  function goOn() {
    unfinished();
    repaint();
  }

  const settle = () => Object.assign(state, clamp({ ...locked, ...previewed }, state.trace));

  /**
   * Locks part of the selection, as the reader has chosen it.
   *
   * @param {Partial<Selection>} change
   */
  function select(change) {
    userChose ||= names(change);
    lock(change);
  }

  /**
   * Locks what the page itself leads to: the next run opens where it is to be seen best.
   *
   * @param {Partial<Selection>} change
   */
  function selectByPage(change) {
    if (names(change)) userChose = false;
    lock(change);
  }

  function lock(change) {
    for (const name of Object.keys(change)) delete unavailable[name];
    Object.assign(locked, clamp({ ...locked, ...change }, state.trace));
    for (const name of Object.keys(previewed)) delete previewed[name];
    settle();
    emit("select", state);
    repaint();
  }

  /** Lets go of a kept token: the selection goes to the end of the text, which it then follows. */
  function toEnd() {
    const last = (state.trace?.T ?? 0) - 1;
    if (last >= 0 && locked.query !== last) lock({ query: last, key: Math.max(0, last - 1) });
  }

  /** Shows a selection while the pointer is there; `endPreview` goes back to the locked one. */
  function preview(change) {
    Object.assign(previewed, change);
    settle();
    emit("preview", state);
    repaint();
  }

  function endPreview() {
    for (const name of Object.keys(previewed)) delete previewed[name];
    settle();
    repaint();
  }

  /** A selection to use for the next run, whatever was selected before (a link, a run that is fetched again). */
  const pin = (selection) => {
    pinned = selection;
  };

  /** The reader's place, whole. */
  const place = () => ({ ...locked, ...unavailable });

  /**
   * Locks a selection as far as a run has it; what the run lacks of the reader's place is there again with one that
   * has it.
   */
  function lockIn(next, trace) {
    const [wanted, there] = [place(), clamp(next, trace)];
    unavailable = Object.fromEntries(
      ["layer", "head", "pair", "neuron"]
        .filter((name) => next[name] === wanted[name] && there[name] !== next[name])
        .map((name) => [name, next[name]]),
    );
    Object.assign(locked, there);
  }

  /** What panels read of a run. */
  const stackOf = (run) => (state.stack === "encoder" && run?.encoder) || run;

  /** A network that reads its source again makes the same of it: what is known of that stays. */
  function takeOver(encoder, run) {
    const read = (one) => JSON.stringify([one.model.name, one.tokens.ids, one.changes]);
    if (!encoder || !run.encoder || read(encoder) !== read(run.encoder)) return;
    run.encoder = Object.assign(encoder, { id: run.encoder.id, whole: run });
  }

  /** @param {import("./messages.d.ts").RunMessage} payload */
  function publishRun(payload) {
    // gradio hands the last message of a stream over twice.
    if (payload.id === state.run?.id && Boolean(payload.generating) === state.run.generating) return;
    const run = decodeRun(payload);
    if (state.run !== state.kept) takeOver(state.run?.encoder, run);
    const trace = stackOf(run);
    if (pinned || payload.start) userChose = Boolean(pinned) && names(pinned);
    // What to look at first, where the page left that to the server.
    const next = {
      ...follow(place(), pinned || payload.start ? null : state.trace, trace),
      ...payload.start,
      ...pinned,
    };
    pinned = null;
    if (last.run) last.run.generating = false; // what is written goes on in the run that follows
    state.run = last.run = run;
    state.trace = trace;
    // Who looks at the difference goes on with the new run's.
    if (state.side === "A" || !subtractable()) state.side = "B";
    lockIn(next, trace);
    endPreview();
    emit("run", run);
    repaint(true);
  }

  /**
   * Has panels read the other stack of a network that has two, from the end of its text on.
   *
   * @param {"encoder" | "decoder"} stack
   */
  function showStack(stack) {
    if (stack === state.stack) return;
    state.stack = stack;
    const trace = stackOf(state.run);
    if (!trace || trace === state.trace) return;
    state.trace = trace;
    lockIn({ ...place(), query: trace.T - 1, key: Math.max(0, trace.T - 2), neuron: null }, trace);
    endPreview();
    emit("stack", trace);
    repaint(true);
  }

  /**
   * Keeps the shown run as A, to compare with; null lets go of it.
   *
   * @param {object | null} trace
   */
  function keep(trace) {
    if (state.side === "B-A" || (!trace && state.side === "A")) showSide("B");
    state.kept = trace;
    emit("kept", trace);
    repaint(true);
  }

  /**
   * Shows the run kept as A in every panel, or the newest, B, or what B has more than A: then positions, names and
   * the selection are B's.
   *
   * @param {"A" | "B" | "B-A"} side
   */
  function showSide(side) {
    const run = side === "A" ? state.kept : last.run;
    if (!run || (side === "B-A" && !subtractable())) return;
    state.side = side;
    showRun(run);
  }

  function showRun(run) {
    state.run = run;
    state.trace = stackOf(run);
    lockIn(place(), state.trace);
    endPreview();
    emit("run", run);
    repaint(true);
  }

  /** Shows once more what was shown before: a run, the one kept as A beside it, and the side. */
  function revive({ trace, kept, side }) {
    last.run = trace;
    state.kept = kept;
    state.side = side;
    emit("kept", kept);
    showRun(side === "A" && kept ? kept : trace);
  }

  /**
   * While text is generated: a message holds the last few steps, so that one may be missed; only new ones are
   * decoded.
   *
   * @param {import("./messages.d.ts").StepsMessage} message
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

  /** @param {import("./messages.d.ts").BusMessage | null} payload */
  function publish(payload) {
    if (payload?.kind === "step") publishSteps(payload);
    else if (payload?.kind === "message") emit("message", payload);
    else if (payload?.kind === "run") {
      publishRun(payload);
      if (payload.note) emit("message", payload.note); // what is to be said of a run that is not all that was asked for
    }
  }

  /** Whether the pointer shows something else than what is locked. */
  const previewing = computed(() => Object.keys(previewed).length > 0);

  /** The two runs to compare, A the kept one and B the newest; null where there are not two. */
  const runs = () => (state.kept && last.run && last.run !== state.kept ? { A: state.kept, B: last.run } : null);

  /** What panels read of them. */
  function sides() {
    const two = runs();
    return two && { A: stackOf(two.A), B: stackOf(two.B) };
  }

  /** Whether there are two runs, of one model and with one mask: only then is there a B − A. */
  function subtractable() {
    const two = sides();
    return (
      two !== null && two.A.model.name === two.B.model.name && two.A.model.parts.prefix === two.B.model.parts.prefix
    );
  }

  /** Whether the reader, or a link, has chosen where to look. */
  const chosen = () => userChose;

  const layer = computed(() => state.trace?.layers.get(state.layer) ?? null);

  const watch = (paint) => painters.add(paint);
  const unwatch = (paint) => painters.delete(paint);
  return {
    state,
    on,
    emit,
    repaint,
    drawn,
    unfinished: goOn,
    select,
    selectByPage,
    chosen,
    toEnd,
    preview,
    endPreview,
    pin,
    keep,
    showSide,
    showStack,
    revive,
    publish,
    layer,
    runs,
    sides,
    subtractable,
    previewing,
    watch,
    unwatch,
  };
}
