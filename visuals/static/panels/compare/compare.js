// Two runs: one is kept as A; the newest, with another prompt or with parts of it changed, is B.

import { sourceTokens, textOf } from "../../characters.js";
import { topCandidates } from "../../compute.js";
import { count, h, share, shown as number } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { effect, memo, reactive } from "../../reads.js";
import { KINDS, changeName, listed } from "../../run-changes.js";
import { hindrance } from "../../hindrance.js";
import { createChosen, createOffers } from "./change-list.js";
import { removed } from "./changes.js";
import { createParts } from "./part-list.js";
import { compared, createPredictions } from "./predictions.js";
import { nextOf as choiceOf } from "./two.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../run-changes.js").Changes} Changes
 *
 * @typedef {import("../../run-changes.js").Change} Change
 *
 * @typedef {import("../../decode.js").Trace} Trace
 */

const SIDES = /** @type {const} */ (["A", "B", "B-A"]);

/**
 * The two runs, of a network with two stacks as what writes them: a run without a choice has nothing to compare.
 *
 * @param {Glass} glass
 * @returns {{ A: Trace; B: Trace } | null}
 */
function sidesNow(glass) {
  const two = glass.sides();
  return two && { A: two.A.whole ?? two.A, B: two.B.whole ?? two.B };
}

/**
 * The two runs, each null where there is none yet.
 *
 * @param {Glass} glass
 */
function runsNow(glass) {
  const { kept, run } = glass.state;
  return { A: kept, B: sidesNow(glass)?.B ?? (kept ? null : run) };
}

/**
 * What follows a run, with all logits once the server has sent them.
 *
 * @param {Glass} glass
 * @param {Trace} trace
 * @returns {import("./predictions.js").Next}
 */
const nextOf = (glass, trace) => ({ ...choiceOf(trace), all: glass.detail("logits", {}, trace)?.logits.data ?? null });

/**
 * Every candidate of both runs with its probability in each.
 *
 * @param {Glass} glass
 * @returns {(string | number)[][]}
 */
function table(glass) {
  const sides = sidesNow(glass);
  const rows = sides ? compared(nextOf(glass, sides.A), nextOf(glass, sides.B), 128) : [];
  return [["id", "piece", "A", "B"], ...rows.map((row) => [row.id, row.piece, row.a ?? "", row.b ?? ""])];
}

/**
 * What one run is: its prompt, how many tokens, and what was changed in it.
 *
 * @param {Say} text
 * @param {Trace} trace
 * @param {Glass} glass
 */
function describe(text, trace, glass) {
  const read = trace.encoder ? `${textOf(sourceTokens(trace.encoder).map(({ text: words }) => words))} → ` : "";
  const prompt = h("p.cmp-prompt", null, read, textOf(trace.tokens.pieces));
  const changes = listed(trace.changes).map((change) => changeName("is", change, trace.model, glass.text));
  const facts = [text("tokens", { count: trace.T }), ...(changes.length ? changes : [text("unchanged")])];
  return [prompt, h("p.gp-note", null, facts.join(" · "))];
}

/**
 * The changes of a run, without where its patches come from.
 *
 * @param {Trace} trace
 * @returns {Changes}
 */
const changesOf = ({ changes }) =>
  Object.fromEntries(KINDS.filter((kind) => changes[kind]).map((kind) => [kind, changes[kind]]));

/**
 * The most probable next token of a run, in words.
 *
 * @param {Say} text
 * @param {Trace} trace
 */
function likeliest(text, trace) {
  const [{ piece, probability }] = topCandidates(choiceOf(trace), 1).rows;
  return text("likeliest", { piece: visible(piece), probability: share(probability) });
}

/** A button with a text of the panel's own. @type {(name: string, click: () => void) => HTMLButtonElement} */
const press = (name, click) => h("button.cmp-button", { "data-text": `compare.${name}`, click });

/**
 * Which run is A and which B: what each is, and the buttons that keep one, drop it, and show a side.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 */
function createRuns(glass, text) {
  const { state } = glass;
  const keep = press("keep", () => glass.keep(state.run));
  const drop = press("drop", () => glass.keep(null));
  const shows = Object.fromEntries(SIDES.map((side) => [side, press(`show_${side}`, () => glass.showSide(side))]));
  const cards = { A: h("div.cmp-run"), B: h("div.cmp-run") };
  const elements = [
    h("div.cmp-row", null, keep, ...SIDES.map((side) => shows[side]), drop),
    h("div.cmp-runs", null, cards.A, cards.B),
  ];

  function draw() {
    const sides = sidesNow(glass);
    const runs = runsNow(glass);
    for (const side of /** @type {const} */ (["A", "B"])) {
      const run = runs[side];
      const content = run ? describe(text, run, glass) : [h("p.gp-note", null, text(`empty_${side}`))];
      cards[side].replaceChildren(h("h3.cmp-head", null, text(`run_${side}`)), ...content);
      cards[side].classList.toggle("is-shown", Boolean(state.kept) && state.side === side && Boolean(run));
    }
    for (const side of SIDES) {
      shows[side].disabled = side === "B-A" ? !glass.subtractable() : !sides;
      shows[side].setAttribute("aria-pressed", String(Boolean(sides) && state.side === side));
    }
    drop.disabled = !state.kept;
  }
  return { elements, draw };
}

/**
 * What comes next in each of the two runs, in words and as a table.
 *
 * @param {Glass} glass
 * @param {import("../../frame.js").Panel} panel
 */
function createOutcome(glass, { text, tell }) {
  const table = createPredictions(text, (value, reading) => tell(value, reading));
  const head = h("h3.cmp-head", { "data-text": "compare.prediction" });
  const outcome = h("p.gp-note");
  const loss = h("p.gp-note.cmp-loss");
  const waiting = h("p.gp-note", { role: "status" });
  const other = h("p.gp-note", { hidden: "" });

  /** The two runs where they are of one model: then they choose among the same tokens. */
  function alike() {
    const sides = sidesNow(glass);
    return sides?.A.model.name === sides?.B.model.name ? sides : null;
  }

  /** How well each run predicts its own text, where both read the same. */
  function lossText() {
    const sides = alike();
    if (!sides || String(sides.A.tokens.ids) !== String(sides.B.tokens.ids) || sides.A.T < 2) return "";
    const [a, b] = [sides.A, sides.B].map((run) => glass.detail("loss", {}, run)?.mean);
    if (a === undefined || b === undefined) return text("loss_waits");
    const vocabulary = sides.A.model.vocab_size;
    const guess = { vocabulary: count(vocabulary), uniform: number(Math.log(vocabulary), 3) };
    return text("loss", { count: sides.A.T - 1, a: number(a, 3), b: number(b, 3), ...guess });
  }

  /** The most probable token of both, or why they are not compared. */
  function say() {
    const sides = sidesNow(glass);
    table.element.hidden = !alike();
    other.hidden = !sides || glass.subtractable();
    if (sides && !other.hidden) other.textContent = text(hindrance(sides) ?? "");
    loss.textContent = lossText();
    outcome.textContent = sides
      ? text("outcome", { a: likeliest(text, sides.A), b: likeliest(text, sides.B) })
      : text("no_outcome");
    tell(sides ? outcome.textContent : "", outcome.textContent);
    head.hidden = outcome.hidden = !sides; // what is missing is said above
  }

  function drawTable() {
    const sides = alike();
    waiting.textContent = "";
    if (!sides) return;
    const [a, b] = [nextOf(glass, sides.A), nextOf(glass, sides.B)];
    if (!a.all || !b.all) waiting.textContent = text("waiting");
    table.fill(a, b);
  }
  return { elements: [head, outcome, loss, other, waiting, table.element], say, drawTable };
}

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["logits"], sides: "both", namesChanges: false };

/**
 * The changes that are chosen and not made: a run of the text as it is takes back what was made.
 *
 * @type {(chosen: Changes, made: Changes) => Changes}
 */
const without = (chosen, made) => listed(made).reduce((left, { kind, value }) => removed(left, kind, value), chosen);

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function compare(element, glass) {
  const { state } = glass;
  const first = state.run ? changesOf(sidesNow(glass)?.B ?? state.run) : {};
  const view = reactive({ changes: first }, glass.repaint);
  let last = state.run; // whose changes are made
  glass.on("run", (/** @type {Trace} */ trace) => {
    const other = trace.model.name !== last?.model.name; // which has other layers and heads
    if (other || (trace !== state.kept && listed(trace.changes).length)) view.changes = changesOf(trace);
    else if (trace !== state.kept) view.changes = without(view.changes, last?.changes ?? {});
    last = trace;
  });
  const panel = frame(element, glass, "compare", { csv: () => table(glass), parts: ["what", "formula", "myth"] });
  const runs = createRuns(glass, panel.text);
  const offers = createOffers(glass, panel.text, view);
  const exchanges = createParts(glass, view);
  const chosen = createChosen(glass, panel.text, view);
  const outcome = createOutcome(glass, panel);
  panel.body.append(
    ...runs.elements,
    h("h3.cmp-head", { "data-text": "compare.changes" }),
    h("p.gp-note", { "data-text": "compare.changes_hint" }),
    ...offers.elements,
    ...exchanges.elements,
    ...chosen.elements,
    ...outcome.elements,
  );

  const parts = [
    offers.draw,
    exchanges.draw,
    outcome.drawTable,
    () => chosen.draw(runsNow(glass).B?.changes ?? {}),
    () => {
      runs.draw();
      outcome.say();
    },
  ].map(memo);
  return effect(function draw() {
    panel.title.textContent = panel.text("title");
    for (const draw of parts) draw();
  });
}
