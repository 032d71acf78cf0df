// Where in a run a reader looks: what a click has locked, and over it what the pointer previews.

import { spanSeen } from "./compute.js";
import { computed, reactive } from "./reads.js";
import { pairsOf } from "./rotation.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {{
 *   layer: number;
 *   head: number;
 *   query: number;
 *   key: number;
 *   pair: number | null;
 *   neuron: number | null;
 * }} Selection
 */

/** @returns {Selection} */
const firstSelection = () => ({ layer: 0, head: 0, query: 0, key: 0, pair: null, neuron: null });

/**
 * Whether a change says where in the run to look.
 *
 * @param {Partial<Selection>} change
 */
const saysWhere = ({ layer, head, query, key }) => [layer, head, query, key].some((place) => place !== undefined);

/**
 * Selection with every index inside the run, and the key never where the mask hides it.
 *
 * @param {Selection} selection
 * @param {Trace | null} trace
 * @returns {Selection}
 */
export function clamp(selection, trace) {
  if (!trace) return selection;
  /** @type {(value: number, count: number) => number} */
  const within = (value, count) => Math.max(0, Math.min(Math.trunc(value) || 0, count - 1));
  const { n_layers, n_heads, parts } = trace.model;
  const layer = within(selection.layer, n_layers);
  const query = within(selection.query, trace.T);
  const [first, end] = spanSeen(trace.model, query, trace.T);
  const key = Math.max(first, within(selection.key, end));
  return {
    layer,
    head: within(selection.head, n_heads),
    query,
    key,
    pair: selection.pair === null ? null : within(selection.pair, Math.max(1, pairsOf(trace.model))),
    neuron: selection.neuron === null ? null : within(selection.neuron, parts.ffn[layer].neurons),
  };
}

/**
 * Where the selection goes when `next` takes the place of `last`: it stays, but follows a last token.
 *
 * @param {Selection} locked
 * @param {Trace | null} last
 * @param {Trace} next
 * @returns {Selection}
 */
export function follow(locked, last, next) {
  // which may part the text otherwise
  const otherModel = last && last.model.name !== next.model.name && last.prompt === next.prompt;
  const sameText = otherModel || last?.tokens.ids.slice(0, next.T).every((id, i) => id === next.tokens.ids[i]);
  const wasLast = last && locked.query === last.T - 1;
  if (sameText && (!wasLast || next.T === last.T)) return locked;
  return { ...locked, ...endOf(next) };
}

/**
 * The end of a run's text.
 *
 * @param {Trace} trace
 */
export const endOf = ({ T }) => ({ query: T - 1, key: Math.max(0, T - 2) });

/**
 * The locked selection, in which a smaller network does not lose the reader's place: what it lacks is there again
 * with one that has it.
 */
function createLocked() {
  const locked = reactive(firstSelection());
  /** @type {Partial<Selection>} of the reader's place, what the shown network has none of */
  let unavailable = {};

  /** The reader's place, whole. */
  const place = () => ({ ...locked, ...unavailable });

  /**
   * Locks a selection as far as a run has it.
   *
   * @param {Selection} next
   * @param {Trace} trace
   */
  function lockIn(next, trace) {
    const [wanted, there] = [place(), clamp(next, trace)];
    unavailable = Object.fromEntries(
      /** @type {const} */ (["layer", "head", "pair", "neuron"])
        .filter((name) => next[name] === wanted[name] && there[name] !== next[name])
        .map((name) => [name, next[name]]),
    );
    Object.assign(locked, there);
  }

  /**
   * @param {Partial<Selection>} change
   * @param {Trace | null} trace
   */
  function lock(change, trace) {
    for (const name of Object.keys(change)) delete unavailable[/** @type {keyof Selection} */ (name)];
    Object.assign(locked, clamp({ ...locked, ...change }, trace));
  }
  return { locked, place, lockIn, lock };
}

/**
 * @param {(selection: Selection) => void} show puts the effective selection where panels read it
 * @param {() => Trace | null} trace what panels read
 * @param {(event: "select" | "preview" | null) => void} changed called when it is another, by whom
 */
export function createSelection(show, trace, changed) {
  const { locked, place, lockIn, lock } = createLocked();
  /** @type {Partial<Selection>} */
  let previewed = {};
  /** @type {Partial<Selection> | null} */
  let pinned = null;
  let choseIt = false; // whether the reader, or a link, chose what is pinned
  let userChose = false; // whether the reader, or a link, has chosen where to look

  const settle = () => show(clamp({ ...locked, ...previewed }, trace()));

  /** @param {Partial<Selection>} change */
  function lockNow(change) {
    lock(change, trace());
    previewed = {};
    settle();
    changed("select");
  }

  /** The pointer is gone: back to the locked selection. */
  function endPreview() {
    previewed = {};
    settle();
    changed(null);
  }

  return {
    locked,
    place,
    lockIn,
    endPreview,
    /**
     * Locks part of the selection, as the reader has chosen it.
     *
     * @param {Partial<Selection>} change
     */
    select(change) {
      userChose ||= saysWhere(change);
      lockNow(change);
    },
    /**
     * Locks what the page itself leads to: the next run opens where it is to be seen best.
     *
     * @param {Partial<Selection>} change
     */
    selectByPage(change) {
      if (saysWhere(change)) userChose = false;
      lockNow(change);
    },
    /** Lets go of a kept token: the selection goes to the end of the text, which it then follows. */
    toEnd() {
      const shown = trace();
      if (shown && locked.query !== shown.T - 1) lockNow(endOf(shown));
    },
    /**
     * Shows a selection while the pointer is there; `endPreview` goes back to the locked one.
     *
     * @param {Partial<Selection>} change
     */
    preview(change) {
      Object.assign(previewed, change);
      settle();
      changed("preview");
    },
    /** Whether the pointer shows something else than what is locked. */
    previewing: computed(() => Object.keys(previewed).length > 0),
    /** Whether the reader, or a link, has chosen where to look. */
    chosen: () => userChose,
    /**
     * A selection to use for the next run, whatever was selected before (a link, a run that is fetched again).
     *
     * @param {Partial<Selection>} selection
     * @param {boolean} [byReader] whether the reader, or a link, has chosen it
     */
    pin(selection, byReader = true) {
      pinned = selection;
      choseIt = byReader;
    },
    /**
     * Where a run that comes is looked at: where the reader is, the server says to look first, or was pinned.
     *
     * @param {Trace} next
     * @param {Partial<Selection>} [start] what the server says
     * @returns {Selection}
     */
    opening(next, start) {
      if (pinned || start) userChose = Boolean(pinned && choseIt && saysWhere(pinned));
      const opened = { ...follow(place(), pinned || start ? null : trace(), next), ...start, ...pinned };
      pinned = null;
      return opened;
    },
  };
}
