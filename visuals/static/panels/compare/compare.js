// Two runs: one is kept as A; the newest, with another prompt or with parts of it changed, is B.

import { sourceTokens, textOf } from "../../characters.js";
import { topCandidates } from "../../compute.js";
import { h, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { effect, memo, reactive } from "../../reads.js";
import { KINDS, changeName, listed } from "../../run-changes.js";
import { added, atSelection, has, removed } from "./changes.js";
import { compared, createPredictions } from "./predictions.js";

const SIDES = /** @type {const} */ (["A", "B", "B-A"]);

/** What one run is: its prompt, how many tokens, and what was changed in it. */
function describe(text, trace, glass) {
  const read = trace.encoder ? `${textOf(sourceTokens(trace.encoder).map(({ text: words }) => words))} → ` : "";
  const prompt = h("p.cmp-prompt", null, read, trace.tokens.pieces.join(""));
  const changes = listed(trace.changes).map((change) => changeName("is", change, trace.model, glass.text));
  const facts = [text("tokens", { count: trace.T }), ...(changes.length ? changes : [text("unchanged")])];
  return [prompt, h("p.gp-note", null, facts.join(" · "))];
}

/** The changes of a run, without where its patches come from. */
const changesOf = ({ changes }) =>
  Object.fromEntries(KINDS.filter((kind) => changes[kind]).map((kind) => [kind, changes[kind]]));

/** The most probable next token of a run, in words. */
function likeliest(text, { next }) {
  const [{ piece, probability }] = topCandidates(next, 1).rows;
  return text("likeliest", { piece: visible(piece), probability: share(probability) });
}

export const about = { tensors: ["logits"], sides: "both", namesChanges: false };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function compare(element, glass) {
  const { state } = glass;
  /** The two runs, of a network with two stacks as what writes them: a run without a choice has nothing to compare. */
  const sidesNow = () => {
    const two = glass.sides();
    return two && { A: two.A.whole ?? two.A, B: two.B.whole ?? two.B };
  };
  const csv = () => {
    const sides = sidesNow();
    const rows = sides ? compared(nextOf(sides.A), nextOf(sides.B), 128) : [];
    return [["id", "piece", "A", "B"], ...rows.map((row) => [row.id, row.piece, row.a ?? "", row.b ?? ""])];
  };
  /** @returns {import("./predictions.js").Next} with all logits once the server has sent them */
  const nextOf = (trace) => ({ ...trace.next, all: glass.detail("logits", {}, trace)?.logits.data ?? null });
  const view = reactive({ changes: state.run ? changesOf(sidesNow()?.B ?? state.run) : {} }, glass.repaint);
  let model = state.run?.model.name;
  glass.on("run", (trace) => {
    const other = trace.model.name !== model; // which has other layers and heads
    model = trace.model.name;
    if (other || (trace !== state.kept && listed(trace.changes).length)) view.changes = changesOf(trace);
  });
  const set = (changes) => {
    view.changes = changes;
  };
  const panel = frame(element, glass, "compare", { csv, parts: ["what", "formula", "myth"] });
  const { text } = panel;

  const press = (name, click) => h("button.cmp-button", { "data-text": `compare.${name}`, click });
  const keep = press("keep", () => glass.keep(state.run));
  const drop = press("drop", () => glass.keep(null));
  const shows = Object.fromEntries(SIDES.map((side) => [side, press(`show_${side}`, () => glass.showSide(side))]));
  const cards = Object.fromEntries(["A", "B"].map((side) => [side, h("div.cmp-run")]));
  const offers = Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      h("button.cmp-button", {
        click: () => set(added(view.changes, kind, atSelection({ ...state, ...state.locked })[kind])),
      }),
    ]),
  );
  const chosen = h("div.cmp-row");
  const hint = h("p.gp-note", { role: "status" });
  const run = press("run", () => glass.change({ ...view.changes, source: state.kept?.id }));
  const clear = press("clear", () => set({}));
  const table = createPredictions(text, (value, reading) => panel.tell(value, reading));
  const outcome = h("p.gp-note");
  const stacks = h("p.gp-note", { hidden: "", "data-text": "compare.stacks_hint" });
  const waiting = h("p.gp-note", { role: "status" });
  const other = h("p.gp-note", { hidden: "" });

  panel.body.append(
    h("div.cmp-row", null, keep, ...SIDES.map((side) => shows[side]), drop),
    h("div.cmp-runs", null, cards.A, cards.B),
    h("h3.cmp-head", { "data-text": "compare.changes" }),
    h("p.gp-note", { "data-text": "compare.changes_hint" }),
    stacks,
    h("div.cmp-row", null, ...KINDS.map((kind) => offers[kind])),
    chosen,
    hint,
    h("div.cmp-row", null, run, clear),
    h("h3.cmp-head", { "data-text": "compare.prediction" }),
    outcome,
    other,
    waiting,
    table.element,
  );

  function drawOffers() {
    const here = atSelection({ ...state, ...state.locked });
    stacks.hidden = !state.run.encoder;
    for (const kind of KINDS) {
      const value = here[kind];
      offers[kind].hidden = value === undefined;
      if (value === undefined) continue;
      offers[kind].disabled = value === null;
      offers[kind].textContent =
        value === null ? text(`no_${kind}`) : changeName("off", { kind, value }, state.trace.model, glass.text);
    }
  }

  /** The two runs, each null where there is none yet. */
  const runsNow = () => ({ A: state.kept, B: sidesNow()?.B ?? (state.kept ? null : state.run) });

  /** The chosen changes: which of them the newest run was made with, and which wait for a run. */
  function drawChosen() {
    const made = runsNow().B?.changes ?? {};
    const chips = listed(view.changes).map(({ kind, value }) => {
      const change = changeName("off", { kind, value }, state.trace.model, glass.text);
      const waits = !has(made, kind, value);
      const name = waits ? text("not_yet", { change }) : change;
      const chip = h(
        "button.cmp-chip.gp-holds",
        { "aria-label": text("remove", { change: name }), click: () => set(removed(view.changes, kind, value)) },
        `${name} ×`,
      );
      chip.classList.toggle("is-pending", waits);
      return chip;
    });
    chosen.replaceChildren(...(chips.length ? chips : [h("p.gp-note", null, text("none_chosen"))]));
    hint.textContent = chips.some((chip) => chip.matches(".is-pending")) ? text("pending") : "";
    run.disabled = clear.disabled = !chips.length;
  }

  function drawRuns() {
    const sides = sidesNow();
    const runs = runsNow();
    for (const side of ["A", "B"]) {
      const content = runs[side] ? describe(text, runs[side], glass) : [h("p.gp-note", null, text(`empty_${side}`))];
      cards[side].replaceChildren(h("h3.cmp-head", null, text(`run_${side}`)), ...content);
      cards[side].classList.toggle("is-shown", Boolean(state.kept) && state.side === side && Boolean(runs[side]));
    }
    for (const side of SIDES) {
      shows[side].disabled = side === "B-A" ? !glass.subtractable() : !sides;
      shows[side].setAttribute("aria-pressed", String(Boolean(sides) && state.side === side));
    }
    drop.disabled = !state.kept;
    table.element.hidden = !glass.subtractable();
    other.hidden = !sides || glass.subtractable();
    if (!other.hidden) other.textContent = text(sides.A.model.name === sides.B.model.name ? "masks" : "models");
    outcome.textContent = sides
      ? text("outcome", { a: likeliest(text, sides.A), b: likeliest(text, sides.B) })
      : text("no_outcome");
    panel.tell(sides ? outcome.textContent : "", sides ? outcome.textContent : text("no_outcome"));
  }

  function drawTable() {
    const sides = sidesNow();
    const [a, b] = sides ? [nextOf(sides.A), nextOf(sides.B)] : [];
    waiting.textContent = glass.subtractable() && !(a.all && b.all) ? text("waiting") : "";
    if (glass.subtractable()) table.fill(a, b);
  }

  const parts = [drawOffers, drawTable, drawChosen, drawRuns].map(memo);
  return effect(function draw() {
    panel.title.textContent = text("title");
    for (const draw of parts) draw();
  });
}
