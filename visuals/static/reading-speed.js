// What is written comes faster than anyone reads: it is shown word by word at a speed that is set, and can be held,
// stepped and stopped. The server writes ahead meanwhile, at most as many tokens as were asked for.

import { reactive } from "./reads.js";
import { LOST } from "./unanswered.js";

/** Words a second; "all": as fast as it comes. */
export const SPEEDS = ["1", "2", "4", "8", "all"];
const DEFAULT = "4"; // slower than one reads, so that a hand stops it in time
const FOLLOW = 1000; // ms: so often all panels follow what is shown, as app/service.py has them follow what is written

/** @returns {string} one of SPEEDS */
export function speedOf(settings) {
  const { speed } = settings.get("pace");
  return SPEEDS.includes(speed) ? speed : DEFAULT;
}
export const setSpeed = (settings, speed) => settings.set("pace", { speed: speed === DEFAULT ? "" : speed });

/** What belongs to the word before it: no blank at its beginning, and no word of a script that writes none. */
const GOES_ON = /^(?:[\p{Script=Latin}\p{M}\p{N}\p{P}]|⟨[0-9A-F]{2}⟩|$)/u;

/**
 * How many pieces from `start` on are one word, with the signs after it.
 *
 * @param {string[]} pieces
 */
export function wordLength(pieces, start) {
  let end = start + 1;
  while (end < pieces.length && GOES_ON.test(pieces[end]) && !/\s$/.test(pieces[end - 1])) end += 1;
  return end - start;
}

const CLOCK = {
  now: () => performance.now(),
  wait: (act, ms) => setTimeout(act, ms),
  clear: (timer) => clearTimeout(timer),
};

/**
 * @param {object} store
 * @param {object} settings of createSettings
 * @param {{
 *   cut: (request: object) => Promise<object>;
 *   setStatus: (status: string) => void;
 *   clock?: typeof CLOCK;
 * }} how
 *   `cut` asks for the run of the first so many written tokens (app/service.py)
 */
export function createPace(store, settings, { cut, setStatus, clock = CLOCK }) {
  const { state } = store;
  /** @type {{ is: "none" | "writing" | "held" }} */
  const begun = { is: "none" };
  const view = reactive(begun); // "writing"; "held"; "none": nothing is written, or all of it is shown
  let coming = []; // every step that has come, as messages hold them
  let over = null; // the message of the run of all that was written, once it is all
  let mine = null; // the id of the run that is shown while it is not
  let cuts = []; // runs that were shown for a moment
  let stopped = null; // whose last message is not to be shown: gradio hands it over twice
  let stopping = false;
  let wanted = true; // whether a text may come: not once something else was asked for, of which it is let go
  let [timer, last, followed] = [0, 0, 0];

  const shownHere = () => mine !== null && state.run?.id === mine;
  const shown = () => (shownHere() ? state.run.steps.length : 0);
  const be = (is) => {
    view.is = is;
    store.repaint();
  };

  function end() {
    clock.clear(timer);
    [coming, over, mine, cuts, stopping] = [[], null, null, [], false];
    if (view.is !== "none") be("none");
  }
  function finish() {
    const run = over;
    end();
    store.publish(run);
  }
  function publish(run) {
    mine = run.id;
    store.publish(run);
  }
  const write = (steps) => steps.forEach((step) => store.publish({ kind: "step", run: mine, steps: [step] }));

  function reveal(count) {
    write(coming.slice(shown(), shown() + count));
    last = clock.now();
    if (over && shown() >= over.steps.length) return finish();
    if (over && view.is === "writing" && last - followed >= FOLLOW) follow(true);
    return schedule();
  }

  function schedule() {
    clock.clear(timer);
    if (view.is !== "writing" || !shownHere() || shown() >= coming.length) return;
    const speed = speedOf(settings);
    if (speed === "all") return void reveal(coming.length);
    const wait = Math.max(0, last + 1000 / Number(speed) - clock.now());
    timer = clock.wait(() => {
      if (view.is === "writing" && shownHere())
        reveal(
          wordLength(
            coming.map(({ piece }) => piece),
            shown(),
          ),
        );
    }, wait);
  }

  /**
   * Has all panels follow what is shown.
   *
   * @param {boolean} generating whether it goes on by itself
   */
  async function follow(generating) {
    const [count, run] = [shown(), over];
    followed = clock.now();
    const instead = cuts.filter((id) => id !== mine && id !== state.kept?.id);
    const payload = await cut({ run: run.id, count, layer: state.locked.layer, instead }).catch(() => LOST);
    if (over !== run || !shownHere() || generating !== (view.is === "writing")) return;
    if (payload.kind !== "run") return void store.publish(payload);
    const since = coming.slice(count, shown());
    cuts = [...cuts.filter((id) => !instead.includes(id)), ...(generating ? [payload.id] : [])];
    publish(generating ? { ...payload, generating } : payload);
    write(since);
  }

  /** Has all panels stand at what is shown: at once, or when the server is done. */
  async function settle() {
    const run = over;
    if (!run || !shownHere()) return;
    if (shown() >= run.steps.length) return finish();
    await follow(false);
    if (!stopping || over !== run) return;
    stopped = run.id;
    end();
  }

  function merge(steps) {
    for (const step of steps) if (step.index === coming.length) coming.push(step);
  }

  /**
   * A message from the server: shown at once, or kept until its time.
   *
   * @param {object} payload
   */
  function take(payload) {
    const isRun = payload?.kind === "run";
    if (isRun && (payload.id === stopped || (payload.generating && !wanted))) return undefined;
    if (isRun && payload.generating && !payload.steps.length) return begin(payload);
    if (view.is === "none" || !(isRun || payload?.kind === "step")) return handOn(payload);
    return keepBack(payload);
  }

  /** The run of a prompt, of which a text is about to be written. */
  function begin(run) {
    end();
    publish(run);
    last = followed = clock.now();
    return be("writing");
  }

  /** What is none of a text that is being written. */
  function handOn(payload) {
    if (payload?.kind === "message") {
      // such as an error in the middle of it
      end();
      if (state.run) state.run.generating = false;
    }
    return store.publish(payload);
  }

  /** What was written until its time has come; a run of it at once, where nothing is kept back. */
  function keepBack(payload) {
    const level = shown() >= coming.length && payload.steps.length <= coming.length + 1;
    merge(payload.steps);
    if (payload.kind !== "run") return schedule();
    if (!payload.generating) over = payload;
    if (view.is === "writing" && shownHere() && (level || speedOf(settings) === "all"))
      return over ? finish() : publish(payload);
    return over && view.is === "held" ? settle() : schedule();
  }

  /** Holds what is shown where it is. */
  async function hold() {
    if (view.is !== "writing") return;
    clock.clear(timer);
    be("held");
    await settle();
  }
  /** One token more, after which it is held. */
  async function next() {
    if (view.is === "writing") await hold();
    if (view.is !== "held" || shown() >= coming.length) return;
    reveal(1);
    await settle();
  }
  function goOn() {
    if (view.is !== "held" || !shownHere()) return;
    state.run.generating = true;
    setStatus("generating");
    last = 0;
    be("writing");
    schedule();
  }
  /** The text ends where it is shown; where nothing is kept back, with what the server has written. */
  function stop() {
    if (view.is === "held" && !state.run.generating) return end();
    if (view.is === "writing" && speedOf(settings) === "all") return undefined;
    stopping = true;
    return hold();
  }

  store.on("run", schedule);
  store.on("begin", (status) => {
    wanted = status === "generating";
    end();
  });
  store.on("settings", (name) => name === "pace" && schedule());
  /**
   * "none" also while another run is looked at.
   *
   * @returns {"none" | "writing" | "held"}
   */
  const now = () => (shownHere() ? view.is : "none");
  return { take, hold, goOn, next, stop, now };
}
