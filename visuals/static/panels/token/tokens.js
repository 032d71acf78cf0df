// The token strip: every token as a button, tinted by the attention that the selected head's query row gives it.

import { largest, subtract } from "../../arrays.js";
import { attention, keysSeen } from "../../compute.js";
import { exact, h, sample, share } from "../../dom.js";
import { fit, ink, inkOn, scaleBar, shade, visible, write } from "../../draw.js";
import { linkRows, stepper } from "../../controls.js";
import { frame } from "../../frame.js";
import { hindrance } from "../../hindrance.js";
import { signedScale, WEIGHTS } from "../../marks/scales.js";
import { momentAt, placeOfToken, wordsOf } from "../../chosen-step.js";
import { headOff } from "../../off.js";
import { effect, memo } from "../../reads.js";
import { createSwitch } from "../../sides.js";
import { leadTo } from "../glance/words.js";
import { createHidden, keepInView, reveal } from "./scrolled.js";

const LEGEND = 146;

/**
 * The piece with its blanks visible but faint.
 *
 * @param {string} piece
 * @returns {HTMLElement}
 */
function pieceOf(piece) {
  const box = h("span.gp-piece", { dir: "auto" });
  for (const part of piece.split(/([ \n\t]+)/)) {
    if (!part) continue;
    box.append(/^[ \n\t]/.test(part) ? h("span.gp-blank", null, visible(part)) : part);
  }
  return box;
}

/** A click on a token goes to it; on a written one to the moment at which it was chosen. */
function wire(chips, glass, built) {
  const placeOf = (position) => ({ query: placeOfToken(glass.state.trace, position) });
  const preview = (position) => glass.preview(placeOf(position));
  const select = (position) => {
    built.pressed = position;
    glass.select(placeOf(position));
  };
  linkRows(
    chips,
    { preview, endPreview: glass.endPreview, select },
    ({ dataset }) => Number(dataset.position),
    "button[data-position]",
  );
}

/** The line under the strip that says which moment the panels stand at, with the way back to the end. */
function createPlace(glass) {
  const words = h("span");
  const back = h("button.gp-option", { "data-text": "moment.to_end", click: () => glass.toEnd() });
  const element = h("p.gp-moment", { role: "status", "data-kind": "end" }, h("span.gp-swatch.is-chosen"), words, back);
  function draw() {
    const moment = momentAt(glass.state.trace, glass.state.locked.query);
    element.dataset.kind = moment.kind;
    words.textContent = wordsOf(glass, moment);
  }
  return { element, draw };
}

/**
 * A small "‹ 2 ›" that moves the layer or the head.
 *
 * @param {"layer" | "head"} name
 */
function selectionStepper(glass, name) {
  const { locked } = glass.state;
  const { element, show } = stepper((by) => glass.select({ [name]: locked[name] + by }), {
    label: `tokens.${name}`,
    back: `tokens.${name}_down`,
    on: `tokens.${name}_up`,
  });
  return { element, draw: (count) => show(String(glass.state[name]), locked[name] === 0, locked[name] === count - 1) };
}

const LONGEST = 10; // letters of a piece in the title; its chip has all of them
const shortened = (piece) => (piece.length > LONGEST ? `${piece.slice(0, LONGEST - 1)}…` : piece);

/** Run A where the strip shows B − A, else null. */
const first = (glass) => (glass.state.side === "B-A" ? glass.sides().A : null);

/**
 * A token's button.
 *
 * @param {[number, string, boolean, string]} token id, piece, whether it was generated, what run A has instead
 */
function chipOf([id, piece, generated, other], t) {
  const meta = h("span.gp-meta", null, `${t} · ${id}`);
  const chip = h("button.gp-chip", { "data-position": t }, pieceOf(piece), meta);
  if (other) chip.append(h("span.gp-meta", null, other));
  chip.classList.toggle("is-generated", generated);
  return chip;
}

/** Keeps the chips' list in step with the run and with tokens that are being generated. */
function fill(chips, glass, built) {
  const { trace } = glass.state;
  const a = first(glass);
  const coming = trace.steps.slice(trace.T - trace.nPrompt);
  if (built.trace !== trace || built.a !== a || built.coming > coming.length) {
    const names = trace.tokens.ids.map((id, t) => {
      const other = a && a.tokens.ids[t] !== id ? `A: ${visible(a.tokens.pieces[t] ?? "–")}` : "";
      return JSON.stringify([id, trace.tokens.pieces[t], t >= trace.nPrompt, other]);
    });
    // With each token that is written comes a run of all: the chips before it stay, or the browser styles 512 anew.
    const stay = names.findIndex((name, t) => name !== built.names[t]);
    const kept = built.list.slice(0, stay < 0 ? names.length : stay);
    while (chips.children.length > kept.length) chips.lastElementChild.remove();
    const added = names.slice(kept.length).map((name, i) => chipOf(JSON.parse(name), kept.length + i));
    chips.append(...added);
    Object.assign(built, {
      trace,
      a,
      names,
      list: [...kept, ...added],
      coming: 0,
      drawn: built.drawn.slice(0, kept.length),
    });
  }
  for (const step of coming.slice(built.coming)) {
    const meta = h("span.gp-meta", null, `p ${share(step.probability)}`);
    chips.append(h("span.gp-chip.is-generated.is-coming", null, pieceOf(step.piece), meta));
    chips.scrollTop = chips.scrollHeight;
  }
  built.coming = coming.length;
}

/**
 * The selected row's attention in the run that is shown, or in B minus that in A; null until it is here.
 *
 * @returns {(import("../../marks/scales.js").Scale & { values: Float64Array; limit: number }) | null}
 */
function tintOf(glass) {
  const { trace, layer, head, query } = glass.state;
  const [held, a] = [glass.layer(), first(glass)];
  if (!a) return held && { values: attention(held, trace.model, head, query), ...WEIGHTS, limit: 1 };
  const other = hindrance({ A: a, B: trace }) ? null : a.layers.get(layer);
  if (!held || !other) return null;
  const values = subtract(attention(held, trace.model, head, query), attention(other, trace.model, head, query));
  const limit = largest(values);
  return { values, ...signedScale(limit, 2), limit };
}

/**
 * The scale of B − A; in its place a line where nothing differs, and nothing where there is no difference to show
 * yet.
 */
function drawDifferenceLegend(context, tones, glass) {
  if (!tones) return;
  if (tones.limit === 0) {
    const { layer, head } = glass.state;
    const off = Object.entries(glass.sides())
      .filter(([, trace]) => headOff(trace, layer, head))
      .map(([name]) => name);
    return write(
      context,
      off.length === 1 ? glass.text("off.legend", { run: off[0] }) : glass.text("sides.same"),
      1,
      18,
      { base: "middle" },
    );
  }
  scaleBar(context, 1, 1, LEGEND - 3, ink().signed, tones.ticks);
}

/** Tints what the query may see, hatches what the mask hides, outlines query and key, marks the token chosen there. */
function tint(chips, built, tones, { query, key, trace, layer, head }) {
  const held = chips.contains(document.activeElement);
  // The token that was clicked stays the pressed one, also where its click led to the position before it.
  const pressed = placeOfToken(trace, built.pressed) === query ? built.pressed : query;
  const chosen = query + 1 >= trace.nPrompt ? query + 1 : -1;
  const seen = keysSeen(trace.model, query, trace.T);
  const colours = tones && ink()[tones.table];
  const off = headOff(trace, layer, head); // what it would read is drawn as unused
  built.list.forEach((chip, t) => {
    const place = tones && t < seen ? tones.place(tones.values[t]) : null;
    const back = place === null ? "" : shade(colours, place);
    const marks =
      Number(t >= seen) |
      (Number(t === query) << 1) |
      (Number(t === key) << 2) |
      (Number(t === pressed) << 3) |
      (Number(t === chosen) << 4) |
      (Number(off && place !== null) << 5);
    const was = built.drawn[t] ?? {};
    const tinted = was.back !== back || was.off !== off;
    if (tinted) {
      // of 512 chips a hover changes few, and an arrow key of most the tint alone
      chip.style.background = off ? "" : back;
      chip.style.color = place === null || off ? "" : inkOn(colours, place);
    }
    if (was.marks === marks && !(off && tinted)) {
      Object.assign(was, { back, off });
      return;
    }
    built.drawn[t] = { back, off, marks };
    chip.classList.toggle("is-off", off && place !== null);
    chip.style.setProperty("--tint", off ? back : ""); // of what is hatched
    chip.classList.toggle("is-masked", t >= seen);
    chip.classList.toggle("is-key", t === key && t !== query);
    chip.classList.toggle("is-query", t === query);
    chip.classList.toggle("is-chosen", t === chosen);
    if (t === pressed && held) chip.focus({ preventScroll: true });
    chip.tabIndex = t === pressed ? 0 : -1;
    chip.setAttribute("aria-pressed", String(t === pressed));
  });
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {(string | number)[][]} position, id, piece, origin, and weight of the selected row
 */
function table(glass) {
  const { trace, query } = glass.state;
  const weights = tintOf(glass)?.values ?? [];
  const origin = (t) => (t < trace.nPrompt ? "prompt" : "generated");
  const rows = trace.tokens.ids.map((id, t) => [t, id, trace.tokens.pieces[t], origin(t), weights[t] ?? ""]);
  const name = `${first(glass) ? "B_minus_A_of_" : ""}attention_weight_from_${query}`;
  return [["position", "id", "piece", "origin", name], ...rows];
}

export const about = { tensors: ["attention"], sides: "itself", unused: "head_brief" };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function tokens(element, glass) {
  const panel = frame(element, glass, "tokens", {
    csv: () => table(glass),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const chips = h("div.gp-chips", { role: "group", "data-text-label": "tokens.strip" });
  const legend = h("canvas.gp-legend", { "aria-hidden": "true" });
  const samples = h(
    "div.gp-samples",
    null,
    legend,
    ...["query", "key", "masked", "generated"].map((name) => sample(`span.gp-swatch.is-${name}`, `tokens.${name}`)),
  );
  /** What is said of written tokens is there while there are some. */
  const explain = (written) => {
    samples.querySelector(".is-generated").parentElement.hidden = !written;
  };
  explain(false); // or the first run would take them away
  /** @type {("layer" | "head")[]} */
  const steps = ["layer", "head"];
  const steppers = steps.map((name) => selectionStepper(glass, name));
  const sides = createSwitch(glass);
  const note = h("p.gp-note");
  const why = h("button.gp-option.gp-why", { "data-text": "tokens.why", click: () => leadTo(glass, "glance", "why") });
  panel.head.lastElementChild.before(why, sides.element, ...steppers.map((one) => one.element), samples);
  const built = { trace: null, coming: 0, names: [], list: [], drawn: [], pressed: -1 };
  wire(chips, glass, built);
  const place = createPlace(glass);
  const unseen = createHidden(chips, built, glass);
  const stacksPlace = h("div");
  panel.body.append(stacksPlace, chips, unseen.element, place.element, note);
  let stacks = null;
  /** What is said of two texts comes with the first run that has two. */
  async function fetchStacks() {
    stacks = { draw() {} }; // while it comes
    const { createStacks } = await import("./stacks.js");
    stacks = createStacks(glass);
    stacksPlace.replaceWith(stacks.element);
    glass.translate(stacks.element);
    glass.repaint(true);
  }
  const renew = memo(() => unseen.renew());
  const drawLegend = memo((a, tones) => {
    const context = fit(legend, LEGEND, 34);
    if (a) drawDifferenceLegend(context, tones, glass);
    else scaleBar(context, 1, 1, LEGEND - 3, ink().magnitude, WEIGHTS.ticks);
  });
  let shownQuery = -1;
  /** Everything but the legend is elements. */
  function show() {
    const { trace, query, key, locked } = glass.state;
    const a = first(glass);
    fill(chips, glass, built);
    renew(built.list, glass.state.language);
    const tones = tintOf(glass);
    steppers[0].draw(trace.model.n_layers);
    steppers[1].draw(trace.model.n_heads);
    tint(chips, built, tones, glass.state);
    sides.draw();
    place.draw();
    if (glass.state.run.encoder && !stacks) fetchStacks();
    stacks?.draw();
    const reason = a && hindrance({ A: a, B: trace });
    note.textContent = reason ? glass.text(`sides.${reason}`, { a: a.T, b: trace.T }) : "";
    explain(trace.nPrompt < trace.T || trace.steps.length > 0);
    drawLegend(a, a && tones);
    const piece = trace.tokens.pieces[query];
    panel.title.textContent = panel.text("title", { query, piece: shortened(visible(piece)) });
    const change = a && tones ? ` key ${key} weight=${exact(tones.values[key])}` : "";
    panel.tell(`token ${query} id ${trace.tokens.ids[query]} '${piece}'${change}`);
    follow(locked.query);
  }

  /** Scrolls to the locked token once it is another. */
  function follow(query) {
    if (shownQuery !== query && built.list[query]) reveal(chips, built.list, (shownQuery = query));
  }

  keepInView(element, () => shownQuery >= 0 && built.list[shownQuery] && reveal(chips, built.list, shownQuery));

  return effect(function draw() {
    const { trace, locked } = glass.state;
    // Before anything on the page is changed, as measuring then does not make the browser lay it out.
    if (built.trace === trace && built.a === first(glass)) follow(locked.query);
    return show;
  });
}
