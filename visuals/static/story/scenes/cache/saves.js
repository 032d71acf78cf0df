// What the cache saves: the work for one more token with it and without it, at any length of the text.

import { slider } from "../../../controls.js";
import { exact, h } from "../../../dom.js";
import { milli } from "../../../panels/kv/format.js";
import { AT_ONCE, raceOf } from "../../../panels/kv/race.js";
import { troubleText } from "../../../panels/kv/trouble.js";
import { pairsOf, workOf } from "../../../readings/kv-race.js";
import { memo, reactive } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { bold, count, few, large, told } from "../../words.js";

const DIGITS = 4; // of the numbers that are divided by each other
const LAST = 8; // tokens of which the times are told: one alone varies with what else the machine does

/**
 * Multiplications for one more token of so many: with the cache, and where all are read again.
 *
 * @param {import("../../../types.d.ts").Model} model
 * @param {number} n
 * @returns {[cached: number, full: number]}
 */
const worksAt = (model, n) => [workOf(model, 1, n), workOf(model, n, pairsOf(n))];

/**
 * How many times one is the other, of the digits that are shown of both.
 *
 * @param {number} full
 * @param {number} cached
 */
const ratioShown = (full, cached) => Number(full.toPrecision(DIGITS)) / Number(cached.toPrecision(DIGITS));

/** The middle one of some times; of an even number the lower of two. @param {number[]} all */
const medianOf = (all) => [...all].sort((a, b) => a - b)[(all.length - 1) >> 1];

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createSaves(glass) {
  const { state, text } = glass;
  const view = reactive({ tokens: /** @type {number | null} */ (null) }, glass.repaint);
  const bars = createBars();
  const long = slider("st-slider", "story-cache.saves_tokens", { min: 1, step: 1 }, (value) => {
    view.tokens = value;
  });
  const race = raceOf(glass);
  const press = () => (race.running ? race.stop() : void start());
  const measure = h("button.st-act", { click: press });
  const measured = h("p.st-note", { role: "status" });
  const element = h("div", null, bars.element, long.element, h("p.st-acts", null, measure), measured);
  glass.on("run", () => {
    view.tokens = null;
  });
  const paint = memo((model, n, language) => {
    const said = (/** @type {number} */ work) =>
      text("story-cache.saves_work", { count: large(work, language, DIGITS) });
    const names = ["with", "without"].map((name) => text(`story-cache.saves_${name}`));
    bars.draw(worksAt(model, n).map((work, i) => ({ name: names[i], value: work, words: said(work) })));
  });
  let before = 0; // tokens that were measured before the last press
  function start() {
    before = race.steps.length;
    return race.start(false);
  }
  /** How far it is, what was in its way, or what the clock said of the last tokens that were written both ways. */
  function sayMeasured() {
    const last = race.steps.at(-1);
    if (race.running) return text("story-cache.saves_running", { done: race.steps.length - before, total: AT_ONCE });
    if (race.trouble) return troubleText(glass, race.trouble);
    if (!last || !state.trace) return "";
    const some = race.steps.slice(-LAST);
    const [cached, full] = [
      medianOf(some.map((step) => step.cached_seconds)),
      medianOf(some.map((step) => step.full_seconds)),
    ];
    return text("story-cache.saves_measured", {
      device: state.trace.model.device,
      written: race.steps.length,
      n: last.tokens + 1, // with the one that was written after them
      count: some.length,
      cached: milli(cached),
      full: milli(full),
      ratio: few(full / cached, 2),
    });
  }
  return {
    name: "saves",
    behind: ["kv", "kv-race"],
    element,
    has: ({ parts: { stack } }) => !stack,
    draw() {
      const { trace, language } = state;
      if (!trace) return null;
      race.follow(trace);
      const { model, T } = trace;
      const n = view.tokens ?? T;
      const [cached, full] = worksAt(model, n);
      long.show(n, count(n, language), { max: model.max_context });
      paint(model, n, language);
      measure.disabled = !race.running && trace.generating;
      measure.textContent = text(`story-cache.saves_${race.running ? "stop" : "act"}`);
      measured.textContent = sayMeasured();
      return {
        words: {
          tokens: bold(text("story-cache.tokens", { count: n })),
          ratio: told(few(ratioShown(full, cached)), full / cached),
        },
        value: `tokens ${n} cached ${cached} full ${full} ratio=${exact(full / cached)} measured ${race.steps.length}`,
      };
    },
  };
}
