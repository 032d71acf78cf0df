// What is written comes faster than anyone reads: it is shown word by word at a speed that is set, and can be held,
// stepped and stopped. The server writes ahead meanwhile, at most as many tokens as were asked for.

import { createDraft } from "./draft.js";
import { reactive } from "./reads.js";
import { LOST } from "./unanswered.js";

/**
 * @typedef {import("./draft.js").Draft} Draft
 *
 * @typedef {import("./types.d.ts").Payload} Payload
 *
 * @typedef {import("./types.d.ts").RunPayload} RunPayload
 *
 * @typedef {import("./types.d.ts").Server["cut"]} Cut asks for the run of the first so many written tokens
 *   (app/service.py)
 *
 * @typedef {import("./types.d.ts").Settings} Settings
 *
 * @typedef {import("./types.d.ts").Store} Store
 *
 * @typedef {typeof CLOCK} Clock
 *
 * @typedef {"none" | "writing" | "held"} State "none": nothing is written, or all of it is shown
 */

/** Words a second; "all": as fast as it comes. */
export const SPEEDS = ["1", "2", "4", "8", "all"];
const DEFAULT = "4"; // slower than one reads, so that a hand stops it in time
const FOLLOW = 1000; // ms: so often all panels follow what is shown, as app/service.py has them follow what is written

/**
 * @param {Pick<Settings, "get">} settings
 * @returns {string} one of SPEEDS
 */
export function speedOf(settings) {
  const { speed } = settings.get("pace");
  return SPEEDS.includes(speed) ? speed : DEFAULT;
}
/**
 * @param {Pick<Settings, "set">} settings
 * @param {string} speed one of SPEEDS
 */
export const setSpeed = (settings, speed) => settings.set("pace", { speed: speed === DEFAULT ? "" : speed });

/** What belongs to the word before it: no blank at its beginning, and no word of a script that writes none. */
const GOES_ON = /^(?:[\p{Script=Latin}\p{M}\p{N}\p{P}]|⟨[0-9A-F]{2}⟩|$)/u;

/**
 * How many pieces from `start` on are one word, with the signs after it.
 *
 * @param {string[]} pieces
 * @param {number} start
 */
export function wordLength(pieces, start) {
  let end = start + 1;
  while (end < pieces.length && GOES_ON.test(pieces[end]) && !/\s$/.test(pieces[end - 1])) end += 1;
  return end - start;
}

const CLOCK = {
  now: () => performance.now(),
  /** @type {(act: () => void, ms: number) => number} */
  wait: (act, ms) => setTimeout(act, ms),
  clear: (/** @type {number} */ timer) => clearTimeout(timer),
};

/**
 * Has all panels follow what is shown of a text: by the run of it so far.
 *
 * @param {Store} store
 * @param {Draft} draft
 * @param {Cut} cut
 * @param {Clock} clock
 */
function createFollowing({ state, publish }, draft, cut, clock) {
  /** @type {string[]} */
  let cuts = []; // runs that were shown for a moment
  let followed = 0;
  return {
    /** Whether it is time. */
    due: () => clock.now() - followed >= FOLLOW,
    /** They stand at what is shown. */
    stand() {
      followed = clock.now();
    },
    clear() {
      cuts = [];
    },
    /**
     * @param {RunPayload} whole the run of all that was written
     * @param {boolean} generating whether the text goes on by itself
     * @param {() => boolean} wanted whether it still does, or does not, when the answer comes
     */
    async follow(whole, generating, wanted) {
      const count = draft.shown();
      followed = clock.now();
      const instead = cuts.filter((id) => id !== draft.run()?.id && id !== state.kept?.id);
      const { layer } = state.locked;
      const payload = await cut({ run: whole.id, count, layer, instead }).catch(() => LOST);
      if (draft.whole() !== whole || !draft.run() || !wanted()) return;
      if (payload.kind !== "run") return void publish(payload);
      const since = draft.between(count, draft.shown());
      cuts = [...cuts.filter((id) => !instead.includes(id)), ...(generating ? [payload.id] : [])];
      draft.show(generating ? { ...payload, generating } : payload);
      draft.write(since);
    },
  };
}

/**
 * A text that is shown word by word.
 *
 * @param {Store} store
 * @param {Settings} settings
 * @param {Cut} cut
 * @param {Clock} clock
 */
function createWriting(store, settings, cut, clock) {
  const draft = createDraft(store);
  const following = createFollowing(store, draft, cut, clock);
  /** @type {{ is: State }} */
  const view = reactive({ is: "none" });
  /** @type {string | null} */
  let stopped = null; // the run whose last message is not to be shown: gradio hands it over twice
  let stopping = false;
  let [timer, last] = [0, 0];

  /** @param {State} is */
  const be = (is) => {
    view.is = is;
    store.repaint();
  };
  /** Lets go of it, as it is shown. */
  function end() {
    clock.clear(timer);
    draft.clear();
    following.clear();
    stopping = false;
    if (view.is !== "none") be("none");
  }
  /**
   * Shows all of it.
   *
   * @param {RunPayload} whole
   */
  function finish(whole) {
    end();
    store.publish(whole);
  }
  /** @param {RunPayload} run of a prompt, of which a text is about to be written */
  function begin(run) {
    end();
    draft.show(run);
    last = clock.now();
    following.stand();
    be("writing");
  }
  /**
   * Shows so many tokens more.
   *
   * @param {number} count
   */
  function reveal(count) {
    draft.write(draft.ahead().slice(0, count));
    last = clock.now();
    const whole = draft.whole();
    if (whole && draft.shown() >= whole.steps.length) return finish(whole);
    if (whole && view.is === "writing" && following.due()) following.follow(whole, true, () => view.is === "writing");
    return schedule();
  }
  /** Has the next word shown at its time. */
  function schedule() {
    clock.clear(timer);
    if (view.is !== "writing" || !draft.run() || !draft.ahead().length) return;
    const speed = speedOf(settings);
    if (speed === "all") return void reveal(draft.ahead().length);
    const word = () => {
      const pieces = draft.ahead().map(({ piece }) => piece);
      if (view.is === "writing" && draft.run()) reveal(wordLength(pieces, 0));
    };
    timer = clock.wait(word, Math.max(0, last + 1000 / Number(speed) - clock.now()));
  }
  /** Goes on at once. */
  function goOn() {
    last = 0;
    be("writing");
    schedule();
  }
  /** Holds what is shown where it is. */
  async function hold() {
    if (view.is !== "writing") return;
    clock.clear(timer);
    be("held");
    await settle();
  }
  /** Has all panels stand at what is shown: at once, or when the server is done. */
  async function settle() {
    const whole = draft.whole();
    if (!whole || !draft.run()) return;
    if (draft.shown() >= whole.steps.length) return finish(whole);
    await following.follow(whole, false, () => view.is !== "writing");
    if (!stopping || draft.whole() !== whole) return;
    stopped = whole.id;
    end();
  }
  /** Ends it where it is shown. */
  function stop() {
    stopping = true;
    return hold();
  }
  const isStopped = (/** @type {RunPayload} */ run) => run.id === stopped;
  return { draft, is: () => view.is, begin, end, finish, reveal, schedule, goOn, hold, settle, stop, isStopped };
}

/**
 * The messages from the server: each is shown at once, or kept until its time.
 *
 * @param {Store} store
 * @param {Settings} settings
 * @param {ReturnType<typeof createWriting>} writing
 */
function createIntake(store, settings, { draft, is, begin, end, finish, schedule, settle, isStopped }) {
  const { state } = store;
  let wanted = true; // whether a text may come: not once something else was asked for, of which it is let go
  store.on("begin", (status) => {
    wanted = status === "generating";
    end();
  });

  /**
   * What is none of a text that is being written.
   *
   * @param {Payload | null | undefined} payload
   */
  function handOn(payload) {
    if (payload?.kind === "message") {
      // such as an error in the middle of it
      end();
      if (state.run) state.run.generating = false;
    }
    return store.publish(payload);
  }

  /**
   * What was written until its time has come; a run of it at once, where nothing is kept back.
   *
   * @param {Exclude<Payload, import("./messages.d.ts").Notice>} payload
   */
  function keepBack(payload) {
    const level = !draft.ahead().length && payload.steps.length <= draft.count() + 1;
    draft.add(payload.steps);
    if (payload.kind !== "run") return schedule();
    if (!payload.generating) draft.complete(payload);
    const whole = draft.whole();
    if (is() === "writing" && draft.run() && (level || speedOf(settings) === "all"))
      return whole ? finish(whole) : draft.show(payload);
    return whole && is() === "held" ? settle() : schedule();
  }

  /** @param {Payload | null | undefined} payload */
  return function take(payload) {
    if (payload?.kind === "run") {
      if (isStopped(payload) || (payload.generating && !wanted)) return undefined;
      if (payload.generating && !payload.steps.length) return begin(payload);
    }
    if (is() === "none" || (payload?.kind !== "run" && payload?.kind !== "step")) return handOn(payload);
    return keepBack(payload);
  };
}

/**
 * @param {Store} store
 * @param {Settings} settings
 * @param {{ cut: Cut; setStatus: (status: string) => void; clock?: Clock }} how
 */
export function createPace(store, settings, { cut, setStatus, clock = CLOCK }) {
  const writing = createWriting(store, settings, cut, clock);
  const { draft, is, hold } = writing;

  /** One token more, after which it is held. */
  async function next() {
    if (is() === "writing") await hold();
    if (is() !== "held" || !draft.ahead().length) return;
    writing.reveal(1);
    await writing.settle();
  }
  function goOn() {
    const run = draft.run();
    if (is() !== "held" || !run) return;
    run.generating = true;
    store.toEnd(); // not at a word that was looked at while it was held
    setStatus("generating");
    writing.goOn();
  }
  /** The text ends where it is shown; where nothing is kept back, with what the server has written. */
  function stop() {
    if (is() === "held" && !store.state.run?.generating) return writing.end();
    if (is() === "writing" && speedOf(settings) === "all") return undefined;
    return writing.stop();
  }

  store.on("run", writing.schedule);
  store.on("settings", (name) => name === "pace" && writing.schedule());
  return {
    take: createIntake(store, settings, writing),
    hold,
    goOn,
    next,
    stop,
    /**
     * "none" also while another run is looked at.
     *
     * @returns {State}
     */
    now: () => (draft.run() ? is() : "none"),
  };
}
