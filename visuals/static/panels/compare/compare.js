// Two runs: one is kept as A; the newest, with another prompt or with parts of it changed, is B.

import { sourceTokens, textOf } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { count, shown as number } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { hindrance, partsApart } from "../../hindrance.js";
import { choicesReader } from "../../readings/compare.js";
import { pairForm } from "../../readings/read-by-two.js";
import { effect, reactive } from "../../reads.js";
import { KINDS, changeName, listed, partChanged } from "../../run-changes.js";
import { readBeside } from "../../run-for.js";
import { hold } from "../../scroll-anchor.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { chosenView, offersView } from "./change-list.js";
import { removed } from "./changes.js";
import { partsView } from "./part-list.js";
import { cellsOf, createPredictions } from "./predictions.js";
import { sidesNow } from "./sides.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../run-changes.js").Changes} Changes
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/compare.js").ChoicesReading} Reading
 */

const SIDES = /** @type {const} */ (["A", "B", "B-A"]);

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
 * What one run is: its prompt, how many tokens, and what was changed in it.
 *
 * @param {Say} text
 * @param {Trace} trace
 * @param {Glass} glass
 */
function describe(text, trace, glass) {
  const read = trace.encoder ? `${textOf(sourceTokens(trace.encoder).map(({ text: words }) => words))} → ` : "";
  const changes = listed(trace.changes).map((change) => changeName("is", change, trace.model, glass.text));
  const facts = [text("tokens", { count: trace.T }), ...(changes.length ? changes : [glass.text("off.unchanged")])];
  return html`<p class="cmp-prompt" .textContent=${read + textOf(trace.tokens.pieces)}></p>
    <p class="gp-note" .textContent=${facts.join(" · ")}></p>`;
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
 * Which run is A and which B: what each is, and the buttons that keep one, drop it, and show a side.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 */
function runsView(glass, text) {
  const { state } = glass;
  const sides = sidesNow(glass);
  const runs = runsNow(glass);
  const drop = () => glass.keep(null);
  const shows = SIDES.map((side) => {
    const isAway = side === "B-A" ? !glass.subtractable() : !sides;
    return html`<button
      class="cmp-button"
      ?disabled=${isAway}
      aria-pressed=${String(Boolean(sides) && state.side === side)}
      .textContent=${text(`show_${side}`)}
      @click=${() => glass.showSide(side)}
    ></button>`;
  });
  const card = (/** @type {"A" | "B"} */ side) => {
    const run = runs[side];
    const isShown = state.kept && state.side === side && run;
    return html`<div class=${`cmp-run${isShown ? " is-shown" : ""}`}>
      <h3 class="cmp-head" .textContent=${text(`run_${side}`)}></h3>
      ${run ? describe(text, run, glass) : html`<p class="gp-note" .textContent=${text(`empty_${side}`)}></p>`}
    </div>`;
  };
  return html`<div class="cmp-row">
      <button class="cmp-button" .textContent=${text("keep")} @click=${() => glass.keep(state.run)}></button>
      ${shows}
      <button class="cmp-button" ?disabled=${!state.kept} .textContent=${text("drop")} @click=${drop}></button>
    </div>
    <p class="gp-note" role="status" .textContent=${sides && state.side === "B-A" ? text("shown_B-A") : ""}></p>
    <div class="cmp-runs">${card("A")} ${card("B")}</div>`;
}

/**
 * How well each run predicts its own text, in words.
 *
 * @param {Say} text
 * @param {Reading["losses"]} losses
 */
function lossText(text, losses) {
  if (!losses) return "";
  const { tokens, vocabulary, uniform, a, b } = losses;
  if (a === null || b === null) return text("loss_waits");
  const guess = { vocabulary: count(vocabulary), uniform: number(uniform, 3) };
  return text("loss", { count: tokens, a: number(a, 3), b: number(b, 3), ...guess });
}

/**
 * The most probable next token of both, in words; what to do first, where there are no two runs.
 *
 * @param {Glass} glass
 * @param {Say} text
 * @param {Reading | null} reading
 */
function outcomeText({ text: whole, state: { kept } }, text, reading) {
  if (!reading) return text(kept ? "no_second" : "no_outcome");
  const said = (/** @type {Reading["likeliest"]["a"]} */ { piece, probability }) =>
    text("likeliest", { piece: visible(piece), probability: shareSaid(whole, probability) });
  return text("outcome", { a: said(reading.likeliest.a), b: said(reading.likeliest.b) });
}

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["logits"], sides: "both", namesChanges: false };

/**
 * The parts that only one of two runs has in its network's own place, in words for either.
 *
 * @param {Glass["text"]} text
 * @param {Parameters<typeof partsApart>[0]} sides
 */
function whatIsApart(text, sides) {
  const { A, B } = partsApart(sides);
  const [a, b] = [A, B].map((parts) => parts.map((part) => partChanged(part, text)).join(" · "));
  return { a: a || text("off.unchanged"), b: b || text("off.unchanged") };
}

/**
 * The changes that are chosen and not made: a run of the text as it is takes back what was made.
 *
 * @type {(chosen: Changes, made: Changes) => Changes}
 */
const without = (chosen, made) => listed(made).reduce((left, { kind, value }) => removed(left, kind, value), chosen);

/**
 * The changes that are chosen, which follow the runs.
 *
 * @param {Glass} glass
 */
function createChoice(glass) {
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
  return view;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function compare(element, glass) {
  const view = createChoice(glass);
  const panel = frame(element, glass, "compare", { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  /** @type {number | null} the candidate that is looked at */
  let pointed = null;
  const predictions = createPredictions(glass.text, (id) => {
    pointed = id;
    tell(read());
  });

  function read() {
    const sides = sidesNow(glass);
    return sides && readBeside(glass, choicesReader, sides, { id: pointed });
  }
  /** @param {Reading | null} reading */
  function tell(reading) {
    const { candidate, least } = reading ?? {};
    if (!candidate || !least) return panel.show(reading, outcomeText(glass, text, reading));
    const [a, b, change] = cellsOf(glass.text, candidate, least);
    return panel.show(reading, text("read", { piece: visible(candidate.piece), a, b, change: change || "–" }));
  }

  /** @param {Reading | null} reading */
  function nextView(reading) {
    const sides = sidesNow(glass);
    const apart = sides && !glass.subtractable() ? hindrance(sides) : null;
    const title = sides ? glass.text(`read-by-two.title${pairForm(sides)}`) : "";
    const note = (/** @type {string} */ words, look = "") =>
      html`<p class=${`gp-note${look}`} .textContent=${words}></p>`;
    return html`${note(outcomeText(glass, text, reading))} ${note(lossText(text, reading?.losses ?? null), " cmp-loss")}
      ${apart && sides ? note(text(apart, { title, ...whatIsApart(glass.text, sides) })) : nothing}
      <p
        class="gp-note"
        role="status"
        .textContent=${reading?.candidates && !reading.complete ? text("waiting") : ""}
      ></p>
      ${predictions.element}`;
  }

  /** Runs the text with what is chosen; what comes of it stands further up than the button that asked for it. */
  async function runChosen() {
    const { run, kept } = glass.state;
    await glass.change({ ...view.changes, source: kept?.id });
    if (glass.state.run === run) return;
    hold(() => panel.body.querySelector(".cmp-outcome")?.scrollIntoView({ block: "nearest", behavior: "instant" }));
  }

  return effect(function draw() {
    const reading = read();
    predictions.element.hidden = !reading?.candidates;
    if (reading?.candidates) predictions.fill(reading.candidates, reading.least);
    panel.title.textContent = text("title");
    render(
      html`
        ${runsView(glass, text)}
        ${
          sidesNow(glass)
            ? html`<div class="cmp-outcome">
                <h3 class="cmp-head" .textContent=${text("prediction")}></h3>
                ${nextView(reading)}
              </div>`
            : nothing
        }
        <h3 class="cmp-head" .textContent=${text("changes")}></h3>
        <p class="gp-note" .textContent=${text("changes_hint")}></p>
        ${offersView(glass, text, view)} ${partsView(glass, view)}
        ${chosenView(glass, text, view, { made: runsNow(glass).B?.changes ?? {}, run: runChosen })}
      `,
      panel.body,
    );
    tell(reading);
  });
}
