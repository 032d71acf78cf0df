// Two runs: one is kept as A; the newest, with another prompt or with parts of it changed, is B.

import { topCandidates } from "../../compute.js";
import { h, share, watcher } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { KINDS, added, atSelection, listed, parameters, removed } from "./changes.js";
import { compared, createTable } from "./predictions.js";

const SIDES = ["A", "B", "B-A"];

/** What one run is: its prompt, how many tokens, and what was changed in it. */
function describe(text, trace) {
  const prompt = h("p.cmp-prompt", null, trace.tokens.pieces.join(""));
  const changes = listed(trace.changes).map(({ kind, value }) => text(`is_${kind}`, parameters(kind, value)));
  const facts = [text("tokens", { count: trace.T }), ...(changes.length ? changes : [text("unchanged")])];
  return [prompt, h("p.gp-note", null, facts.join(" · "))];
}

/** The changes of a run, without where its patches come from. */
const changesOf = ({ changes }) => Object.fromEntries(KINDS.filter((kind) => changes[kind]).map((kind) => [kind, changes[kind]]));

/** The most probable next token of a run, in words. */
function likeliest(text, { next }) {
  const [{ piece, probability }] = topCandidates(next, 1).rows;
  return text("likeliest", { piece: visible(piece), probability: share(probability) });
}

/** @param {HTMLElement} element @param {object} glass */
export default function compare(element, glass) {
  const { state } = glass;
  const csv = () => {
    const sides = glass.sides();
    const rows = sides ? compared(sides.A.next, sides.B.next, 128) : [];
    return [["id", "piece", "A", "B"], ...rows.map((row) => [row.id, row.piece, row.a ?? "", row.b ?? ""])];
  };
  let changes = state.trace ? changesOf(glass.sides()?.B ?? state.trace) : {};
  glass.on("run", (trace) => { if (trace !== state.kept && listed(trace.changes).length) changes = changesOf(trace); });
  const panel = frame(element, glass, "compare", { csv, parts: ["what", "formula", "myth"] });
  const { text } = panel;

  const press = (name, act) => {
    const button = h("button.cmp-button", { type: "button", "data-text": `compare.${name}` });
    button.addEventListener("click", act);
    return button;
  };
  const keep = press("keep", () => glass.keep(state.trace));
  const drop = press("drop", () => glass.keep(null));
  const shows = Object.fromEntries(SIDES.map((side) => [side, press(`show_${side}`, () => glass.showSide(side))]));
  const cards = Object.fromEntries(["A", "B"].map((side) => [side, h("div.cmp-run")]));
  const offers = Object.fromEntries(KINDS.map((kind) => [kind, h("button.cmp-button", { type: "button" })]));
  const chosen = h("div.cmp-row");
  const run = press("run", () => glass.change({ ...changes, source: state.kept?.id }));
  const clear = press("clear", () => { changes = {}; glass.repaint(true); });
  const table = createTable(text, (value, reading) => panel.tell(value, reading));
  const outcome = h("p.gp-note");

  for (const kind of KINDS) {
    offers[kind].addEventListener("click", () => {
      changes = added(changes, kind, atSelection({ ...state, ...state.locked })[kind]);
      glass.repaint(true);
    });
  }
  panel.body.append(
    h("div.cmp-row", null, keep, ...SIDES.map((side) => shows[side]), drop),
    h("div.cmp-runs", null, cards.A, cards.B),
    h("h3.cmp-head", { "data-text": "compare.changes" }),
    h("p.gp-note", { "data-text": "compare.changes_hint" }),
    h("div.cmp-row", null, ...KINDS.map((kind) => offers[kind])),
    chosen,
    h("div.cmp-row", null, run, clear),
    h("h3.cmp-head", { "data-text": "compare.prediction" }),
    outcome,
    table.element,
  );

  function drawOffers() {
    const here = atSelection({ ...state, ...state.locked });
    for (const kind of KINDS) {
      const value = here[kind];
      offers[kind].disabled = value === null;
      offers[kind].textContent = value === null ? text(`no_${kind}`) : text(`off_${kind}`, parameters(kind, value));
    }
  }

  function drawChosen() {
    const chips = listed(changes).map(({ kind, value }) => {
      const chip = h("button.cmp-chip", { type: "button" }, `${text(`off_${kind}`, parameters(kind, value))} ×`);
      chip.setAttribute("aria-label", text("remove", { change: text(`off_${kind}`, parameters(kind, value)) }));
      chip.addEventListener("click", () => { changes = removed(changes, kind, value); glass.repaint(true); });
      return chip;
    });
    chosen.replaceChildren(...(chips.length ? chips : [h("p.gp-note", null, text("none_chosen"))]));
    run.disabled = clear.disabled = !chips.length;
  }

  function drawRuns() {
    const sides = glass.sides();
    const runs = { A: state.kept, B: sides?.B ?? (state.kept ? null : state.trace) };
    for (const side of ["A", "B"]) {
      const content = runs[side] ? describe(text, runs[side]) : [h("p.gp-note", null, text(`empty_${side}`))];
      cards[side].replaceChildren(h("h3.cmp-head", null, text(`run_${side}`)), ...content);
      cards[side].classList.toggle("is-shown", Boolean(state.kept) && state.side === side && Boolean(runs[side]));
    }
    for (const side of SIDES) {
      shows[side].disabled = !sides;
      shows[side].setAttribute("aria-pressed", String(Boolean(sides) && state.side === side));
    }
    drop.disabled = !state.kept;
    table.element.hidden = !sides;
    if (sides) table.fill(sides.A.next, sides.B.next);
    outcome.textContent = sides
      ? text("outcome", { a: likeliest(text, sides.A), b: likeliest(text, sides.B) })
      : text("no_outcome");
    panel.tell(sides ? outcome.textContent : "", sides ? outcome.textContent : text("no_outcome"));
  }

  const moved = watcher();
  return function draw(fresh) {
    const { layer, head, query, neuron } = state.locked;
    if (moved(layer, head, query, neuron) || fresh) drawOffers();
    if (!fresh) return;
    panel.title.textContent = text("title");
    drawChosen();
    drawRuns();
  };
}
