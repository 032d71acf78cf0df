// The token strip: every token as a button, tinted by the attention that the selected head's query row gives it.

import { largest, strongest, subtract } from "../../arrays.js";
import { spanSeen } from "../../compute.js";
import { shareSaid } from "../../counts.js";
import { h, sample, shown } from "../../dom.js";
import { fit, ink, inkOn, scaleBar, shade, visible, write } from "../../draw.js";
import { linkRows, stepper } from "../../controls.js";
import { frame } from "../../frame.js";
import { hindrance } from "../../hindrance.js";
import { signedScale, WEIGHTS } from "../../marks/scales.js";
import { momentAt, placeOfToken, wordsOf } from "../../chosen-step.js";
import { headOff } from "../../off.js";
import { effect, memo } from "../../reads.js";
import { tokensReader, weightColumn } from "../../readings/token-strip.js";
import { shownIn } from "../../run-for.js";
import { createSwitch } from "../../sides.js";
import { leadTo } from "../glance/words.js";
import { createHidden, keepInView, reveal } from "./scrolled.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/token-strip.js").StripReading} StripReading
 *
 * @typedef {import("../../marks/scales.js").Scale & { values: Float64Array; limit: number }} Tones
 *
 * @typedef {{ back?: string; off?: boolean; marks?: number }} Drawn how a chip is drawn
 *
 * @typedef {object} Built what the strip is made of
 * @property {Trace | null} trace null before the first run
 * @property {Trace | null} [a] run A where the strip shows B − A
 * @property {number} coming how many tokens are shown that the run does not have yet
 * @property {string[]} names
 * @property {HTMLElement[]} list
 * @property {Drawn[]} drawn
 * @property {number} pressed
 *
 * @typedef {[id: number, piece: string, generated: boolean, other: string]} Chip `other`: what run A has instead
 */

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

/**
 * A click on a token goes to it; on a written one to the moment at which it was chosen.
 *
 * @param {HTMLElement} chips
 * @param {Glass} glass
 * @param {Built} built
 */
function wire(chips, glass, built) {
  const placeOf = (/** @type {number} */ position) => ({ query: placeOfToken(shownIn(glass).trace, position) });
  const preview = (/** @type {number} */ position) => glass.preview(placeOf(position));
  const select = (/** @type {number} */ position) => {
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

/**
 * The line under the strip that says which moment the panels stand at, with the way back to the end. @param {Glass}
 * glass
 */
function createPlace(glass) {
  const words = h("span");
  const back = h("button.gp-option", { "data-text": "moment.to_end", click: () => glass.toEnd() });
  const element = h("p.gp-moment", { role: "status", "data-kind": "end" }, h("span.gp-swatch.is-chosen"), words, back);
  function draw() {
    const moment = momentAt(shownIn(glass).trace, glass.state.locked.query);
    element.dataset.kind = moment.kind;
    words.textContent = wordsOf({ state: shownIn(glass), text: glass.text }, moment);
  }
  return { element, draw };
}

/**
 * Why the page shows this head first, where it does: in a narrow window (page.css), as a wide one counts its lines.
 *
 * @param {Glass} glass
 */
function createOpens(glass) {
  const element = h("p.gp-note.gp-opens");
  function draw() {
    const { locked, chapter, presenting } = glass.state;
    const { start } = shownIn(glass).trace;
    const isOpened = start?.key !== undefined && start.layer === locked.layer && start.head === locked.head;
    element.hidden = !isOpened || chapter !== "glance" || Boolean(presenting);
    element.textContent = element.hidden ? "" : glass.text("tokens.opens");
  }
  return { element, draw };
}

/**
 * A small "‹ 2 ›" that moves the layer or the head.
 *
 * @param {Glass} glass
 * @param {"layer" | "head"} name
 */
function selectionStepper(glass, name) {
  const { locked } = glass.state;
  const { element, show } = stepper((by) => glass.select({ [name]: locked[name] + by }), {
    label: `tokens.${name}`,
    back: `tokens.${name}_down`,
    on: `tokens.${name}_up`,
  });
  const draw = (/** @type {number} */ count) =>
    show(String(glass.state[name]), locked[name] === 0, locked[name] === count - 1);
  return { element, draw };
}

const LONGEST = 10; // letters of a piece in the title; its chip has all of them
/** @param {string} piece */
const shortened = (piece) => (piece.length > LONGEST ? `${piece.slice(0, LONGEST - 1)}…` : piece);

const STRONGEST = 3; // that are named where they are out of sight
/**
 * The tokens with the most weight, strongest first.
 *
 * @param {StripReading} reading
 * @param {Trace} trace
 */
const strongestOf = ({ weights }, trace) =>
  strongest(weights ?? [], STRONGEST)
    .filter((t) => weights?.[t])
    .map((t) => ({ t, words: `${t} “${shortened(visible(trace.tokens.pieces[t]))}” ${shown(weights?.[t] ?? 0, 3)}` }));

/**
 * Run A where the strip shows B − A, else null.
 *
 * @param {Glass} glass
 * @returns {Trace | null}
 */
const first = (glass) => (glass.state.side === "B-A" ? (glass.sides()?.A ?? null) : null);

/**
 * A token's button.
 *
 * @param {Chip} token
 * @param {number} t
 */
function chipOf([id, piece, generated, other], t) {
  const meta = h("span.gp-meta", null, `${t} · ${id}`);
  const chip = h("button.gp-chip", { "data-position": t }, pieceOf(piece), meta);
  if (other) chip.append(h("span.gp-meta", null, other));
  chip.classList.toggle("is-generated", generated);
  return chip;
}

/**
 * Keeps the chips' list in step with the run and with tokens that are being generated.
 *
 * @param {HTMLElement} chips
 * @param {Glass} glass
 * @param {Built} built
 */
function fill(chips, glass, built) {
  const { trace } = shownIn(glass);
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
    while (chips.children.length > kept.length) chips.lastElementChild?.remove();
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
    const meta = h("span.gp-meta", null, `p ${shareSaid(glass.text, step.probability)}`);
    chips.append(h("span.gp-chip.is-generated.is-coming", null, pieceOf(step.piece), meta));
    chips.scrollTop = chips.scrollHeight;
  }
  built.coming = coming.length;
}

/**
 * B − A, which the strip shows itself: B's tokens, with its weights minus A's.
 *
 * @param {StripReading | null} a null where there is no difference of the two runs
 * @param {StripReading} b
 * @returns {StripReading}
 */
function difference(a, b) {
  const { query, key } = b.selection;
  const weights = a?.weights && b.weights ? subtract(b.weights, a.weights) : null;
  const { keys, columns } = b.rows.tokens();
  const name = weightColumn(query);
  const apart = () =>
    a && weights ? subtract(columns[name], a.rows.tokens().columns[name]) : Array.from(columns[name], () => NaN);
  return {
    ...b,
    weights,
    at: weights ? `${b.at} key ${key}` : b.at,
    values: { ...(weights && { weight: weights[key] }) },
    rows: { tokens: () => ({ keys, columns: { [`B_minus_A_of_${name}`]: apart() } }) },
  };
}

/**
 * What is read of the run that is shown, or of B minus A.
 *
 * @param {Glass} glass
 * @returns {StripReading}
 */
function readStrip(glass) {
  const { trace, layer, head, query, key } = shownIn(glass);
  const a = first(glass);
  const read = (/** @type {Trace} */ run) =>
    tokensReader.read({ trace: run, details: {} }, { layer, head, query, key });
  if (!a) return read(trace);
  return difference(hindrance({ A: a, B: trace }) ? null : read(a), read(trace));
}

/**
 * The colours of what is read; null until it is here.
 *
 * @param {StripReading} reading
 * @param {boolean} apart whether it is B − A
 * @returns {Tones | null}
 */
function tonesOf({ weights: values }, apart) {
  if (!values) return null;
  if (!apart) return { values, ...WEIGHTS, limit: 1 };
  const limit = largest(values);
  return { values, ...signedScale(limit, 2), limit };
}

/**
 * The scale of B − A; in its place a line where nothing differs, and nothing where there is no difference to show
 * yet.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Tones | null} tones
 * @param {Glass} glass
 */
function drawDifferenceLegend(context, tones, glass) {
  if (!tones) return undefined;
  if (tones.limit === 0) {
    const { layer, head } = glass.state;
    const off = Object.entries(glass.sides() ?? {})
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
  return scaleBar(context, 1, 1, LEGEND - 3, ink().signed, tones.ticks);
}

/**
 * Tints what the query may see, hatches what the mask hides, outlines query and key, marks the token chosen there.
 *
 * @param {HTMLElement} chips
 * @param {Built} built
 * @param {Tones | null} tones
 * @param {import("../../types.d.ts").Shown} state
 */
function tint(chips, built, tones, { query, key, trace, layer, head }) {
  const held = chips.contains(document.activeElement);
  // The token that was clicked stays the pressed one, also where its click led to the position before it.
  const pressed = placeOfToken(trace, built.pressed) === query ? built.pressed : query;
  const chosen = query + 1 >= trace.nPrompt ? query + 1 : -1;
  const [first, end] = spanSeen(trace.model, query, trace.T);
  const sees = (/** @type {number} */ t) => t >= first && t < end;
  const colours = ink()[tones?.table ?? "magnitude"];
  const off = headOff(trace, layer, head); // what it would read is drawn as unused
  built.list.forEach((chip, t) => {
    const isSeen = sees(t);
    const place = tones && isSeen ? tones.place(tones.values[t]) : null;
    const back = place === null ? "" : shade(colours, place);
    const marks =
      Number(!isSeen) |
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
    chip.classList.toggle("is-masked", !isSeen);
    chip.classList.toggle("is-key", t === key && t !== query);
    chip.classList.toggle("is-query", t === query);
    chip.classList.toggle("is-chosen", t === chosen);
    if (t === pressed && held) chip.focus({ preventScroll: true });
    chip.tabIndex = t === pressed ? 0 : -1;
    chip.setAttribute("aria-pressed", String(t === pressed));
  });
}

/**
 * What the marks of a token mean; what is said of written tokens, and of a head that is off, is there while there
 * are some.
 *
 * @param {HTMLElement} legend the scale
 */
function createSamples(legend) {
  const samples = h(
    "div.gp-samples",
    null,
    legend,
    ...["query", "key", "masked", "off", "generated"].map((name) =>
      sample(`span.gp-swatch.is-${name}`, `tokens.${name}`),
    ),
  );
  const [written, unused] = [".is-generated", ".is-off"].map(
    (mark) => /** @type {HTMLElement} */ (samples.querySelector(mark)?.parentElement),
  );
  function explain(/** @type {boolean} */ isWritten, /** @type {boolean} */ isOff) {
    written.hidden = !isWritten;
    unused.hidden = !isOff;
  }
  explain(false, false); // or the first run would take them away
  return { samples, explain };
}

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention"], sides: "itself", unused: "head_brief" };

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function tokens(element, glass) {
  const panel = frame(element, glass, "tokens", { parts: ["what", "formula", "myth"], pointed: false });
  const chips = h("div.gp-chips", { role: "group", "data-text-label": "tokens.strip" });
  const legend = h("canvas.gp-legend", { "aria-hidden": "true" });
  const { samples, explain } = createSamples(legend);
  /** @type {("layer" | "head")[]} */
  const steps = ["layer", "head"];
  const steppers = steps.map((name) => selectionStepper(glass, name));
  const sides = createSwitch(glass);
  const scale = h("span.gp-strongest"); // in a row of the window, which has no room for the legend
  const note = h("p.gp-note");
  const why = h("button.gp-option.gp-why", { "data-text": "tokens.why", click: () => leadTo(glass, "glance", "why") });
  panel.head.lastElementChild?.before(why, sides.element, scale, ...steppers.map((one) => one.element), samples);
  /** @type {Built} */
  const built = { trace: null, coming: 0, names: [], list: [], drawn: [], pressed: -1 };
  wire(chips, glass, built);
  const [place, opens] = [createPlace(glass), createOpens(glass)];
  const unseen = createHidden(chips, built, glass);
  const stacksPlace = h("div");
  const under = h("p.gp-note.gp-names", { "data-text": "tokens.under" });
  panel.body.append(stacksPlace, chips, unseen.element, opens.element, under, place.element, note);
  /** @type {{ draw: () => void } | null} */
  let stacks = null;
  /** What is said of two texts comes with the first run that has two. */
  async function fetchStacks() {
    stacks = { draw() {} }; // while it comes
    const { createStacks } = await import("./stacks.js");
    const made = createStacks(glass);
    stacks = made;
    stacksPlace.replaceWith(made.element);
    glass.translate(made.element);
    glass.repaint(true);
  }
  const renew = memo(() => unseen.renew());
  const drawLegend = memo((/** @type {Trace | null} */ a, /** @type {Tones | null} */ tones) => {
    const context = fit(legend, LEGEND, 34);
    if (a) drawDifferenceLegend(context, tones, glass);
    else scaleBar(context, 1, 1, LEGEND - 3, ink().magnitude, WEIGHTS.ticks);
  });
  let shownQuery = -1;
  /** Everything but the legend is elements. */
  function show() {
    const { trace, query, locked } = shownIn(glass);
    const a = first(glass);
    const reading = readStrip(glass);
    fill(chips, glass, built);
    renew(built.list, glass.state.language);
    const tones = tonesOf(reading, a !== null);
    steppers[0].draw(trace.model.n_layers);
    steppers[1].draw(trace.model.n_heads);
    tint(chips, built, tones, shownIn(glass));
    sides.draw();
    place.draw();
    opens.draw();
    if (glass.state.run?.encoder && !stacks) fetchStacks();
    stacks?.draw();
    const reason = a && hindrance({ A: a, B: trace });
    note.textContent = reason ? glass.text(`sides.${reason}`, { a: a.T, b: trace.T }) : "";
    const { layer, head } = glass.state;
    explain(trace.nPrompt < trace.T || trace.steps.length > 0, headOff(trace, layer, head));
    drawLegend(a, a && tones);
    scale.textContent = a && tones?.limit ? glass.text("sides.strongest", { limit: shown(tones.limit, 2) }) : "";
    const piece = trace.tokens.pieces[query];
    panel.title.textContent = panel.text("title", { query, piece: shortened(visible(piece)) });
    unseen.tell(a || headOff(trace, layer, head) ? [] : strongestOf(reading, trace));
    panel.show(reading, "");
    follow(locked.query);
  }

  /** Scrolls to the locked token once it is another. @param {number} query */
  function follow(query) {
    if (shownQuery !== query && built.list[query]) reveal(chips, built.list, (shownQuery = query));
  }

  const revealAgain = () => shownQuery >= 0 && built.list[shownQuery] && reveal(chips, built.list, shownQuery);
  keepInView(element, revealAgain);
  // What was not laid out yet, or is now of another width, has the token elsewhere.
  new ResizeObserver(revealAgain).observe(chips, { box: "border-box" });

  return effect(function draw() {
    const { trace, locked } = glass.state;
    // Before anything on the page is changed, as measuring then does not make the browser lay it out.
    if (built.trace === trace && built.a === first(glass)) follow(locked.query);
    return show;
  });
}
