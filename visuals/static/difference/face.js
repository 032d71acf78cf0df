// What a panel shows for B − A: the same reading of both runs, subtracted, in the place of the panel's own drawing.

import { exact, h, sample } from "../dom.js";
import { visible } from "../draw.js";
import { panelOf } from "../frame.js";
import { sameText } from "../off.js";
import { createMemory, hindrance } from "../marks/runs.js";
import { inView, widthOf } from "../pointing.js";
import { fromReading } from "./from-reading.js";
import { joined, selectedRows } from "./saved.js";
import { number, plus } from "./table.js";

/**
 * @typedef {{ elements: HTMLElement[]; show: (a: Run, b: Run) => void }} Controls what the panel can be set to,
 *   over the parts
 *
 * @typedef {import("../marks/runs.js").Run} Run
 *
 * @typedef {import("./saved.js").Rows} Rows
 *
 * @typedef {{
 *   element: HTMLElement;
 *   draw: (a: Run, b: Run, width: number, fresh: boolean) => void;
 *   absent?: (run: Run) => boolean;
 *   same: () => boolean;
 *   csv?: () => Rows;
 *   called?: string;
 *   pointed?: () => number | null;
 *   needs?: string[];
 *   wide?: boolean;
 * }} Part
 *   `same`: whether the two runs do not differ at all in what was drawn last; a line then stands in its place;
 *   `needs`: which of the details that come `later` it cannot be drawn without; `absent`: where a run has nothing
 *   of the kind; `wide`: takes the panel's whole width; `csv`: what it shows, of which the file names it `called`;
 *   left out where another part shows the same numbers
 *
 * @typedef {{
 *   layer?: boolean;
 *   neurons?: boolean;
 *   anyLength?: boolean;
 *   details?: (
 *     glass: import("../types.d.ts").Glass,
 *     sides: { A: object; B: object },
 *   ) => Object<string, [string, object]>;
 *   later?: (
 *     glass: import("../types.d.ts").Glass,
 *     sides: { A: object; B: object },
 *   ) => Object<string, [string, object]>;
 *   lacks?: (glass: import("../types.d.ts").Glass, sides: { A: object; B: object }) => string | null;
 *   named?: (glass: import("../types.d.ts").Glass, text: Function) => object;
 *   controls?: (glass: import("../types.d.ts").Glass) => Controls;
 *   without?: string;
 *   note?: string;
 *   about?: (a: Run, b: Run, state: object, text: Function) => string;
 *   beside?: boolean;
 *   at: (state: object, glass: import("../types.d.ts").Glass, chosen: any, b: Run) => string;
 *   choose?: (state: object, a: Run, b: Run, pointed: number | null, glass: import("../types.d.ts").Glass) => any;
 *   numbers: (
 *     run: Run,
 *     state: object,
 *     glass: import("../types.d.ts").Glass,
 *     chosen: any,
 *   ) => Object<string, number>;
 *   of?: (about: {
 *     text: Function;
 *     named: object;
 *     chosen: any;
 *     a: Run;
 *     b: Run;
 *     state: object;
 *     glass: import("../types.d.ts").Glass;
 *   }) => string;
 *   between?: (a: Run, b: Run, state: object) => Object<string, number>;
 *   said?: string[] | ((run: Run, state: object, glass: import("../types.d.ts").Glass) => string[]);
 *   worded?: string[];
 *   words?: (run: Run) => object;
 *   parts: (glass: import("../types.d.ts").Glass, text: Function) => Part[];
 * }} View
 *   `details`: what the server is asked about each run; `later`: what the panel does not wait for, null in `Run`
 *   until it is here; `lacks`: what else is missing, in words; `named`: more parameters of the title; `without`: a
 *   text that says which of the panel's own controls B − A has no use for, and why; `note`: a text under the parts;
 *   `about`: a line over them that is made of both runs; `beside`: what follows the first part stands at its right
 *   where there is room; `choose`: what the selection leaves open, such as the neuron where none is selected;
 *   `numbers`: the value line, of which `said` are read out (all where it is left out) and `worded` have words of
 *   their own, number_<name>; `words`: parameters of their names; `of`: what the value line is about, in words,
 *   where the panel's title does not say it, of `named` as titles have it; `between`: numbers before them that no
 *   subtraction of numbers gives
 */

let styled = false;
function fetchStyle() {
  if (styled) return;
  styled = true;
  document.head.append(h("link", { rel: "stylesheet", href: new URL("style.css", import.meta.url).href }));
}

/**
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {import("../types.d.ts").Glass} glass
 * @param {(fresh: boolean) => (() => void) | void} plain
 * @param {import("../frame.js").About} about
 * @returns {Promise<{ draw: (fresh: boolean) => void; hide: () => void }>}
 */
export async function createFace(kind, element, glass, plain, { difference, unused }) {
  fetchStyle();
  if (!difference) return withoutDifference(kind, element, glass, plain);
  if (typeof difference !== "string") return withDifference(kind, element, glass, fromReading(difference), unused);
  const { default: views } = await import(`./${difference}.js`);
  return withDifference(kind, element, glass, views[kind], unused);
}

/** The panel as it is for B, under a line that says why. */
function withoutDifference(kind, element, glass, plain) {
  const note = h("p.gp-note.mn-none", { "data-text": `sides.none_${kind}` });
  note.textContent = glass.text(note.dataset.text);
  panelOf(element).body.before(note);
  function draw(fresh) {
    element.dataset.side = "B";
    note.hidden = false;
    return plain(fresh);
  }
  return {
    draw,
    hide: () => {
      note.hidden = true;
    },
  };
}

/** How titles name the selection. */
function selectionOf({ trace, layer, head, query, key, pair }) {
  const piece = (t) => visible(trace.tokens.pieces[t]);
  return {
    layer,
    head,
    pair,
    query: piece(query),
    key: piece(key),
    m: query,
    n: key,
    layers: trace.model.n_layers,
    last: visible(trace.tokens.pieces.at(-1)),
  };
}

/**
 * @param {View} view
 * @param {import("../frame.js").About["unused"]} unused
 */
function withDifference(kind, element, glass, view, unused) {
  const { state } = glass;
  const panel = panelOf(element);
  const text = (name, params) => glass.text(panel.formed(`b_minus_a.${name}`), params);
  const key = h(
    "div.gp-samples.mn-key",
    null,
    ...["less", "more"].map((name) => sample(`span.gp-swatch.mn-${name}`, `b_minus_a.${name}`)),
  );
  const note = h("p.gp-note.mn-reason", { role: "status" });
  const parts = view.parts(glass, text);
  const lines = parts.map(() => h("p.gp-note", { hidden: "" }));
  const foot = view.note ? [h("p.gp-note", { "data-text": view.note })] : [];
  const about = h("p.gp-note");
  const places = parts.map((part, i) =>
    h(part.wide ? "div.mn-part.is-wide" : "div.mn-part", null, part.element, lines[i]),
  );
  const controls = view.controls?.(glass);
  const bar = controls ? [h("div.mn-controls", null, ...controls.elements)] : [];
  if (view.without) bar.push(h("p.gp-note", { "data-text": view.without }));
  places[0].classList.add("is-first");
  const inner = h(view.beside ? "div.mn-beside" : "div", null, ...bar, key, about, ...places, ...foot);
  const body = h("div.mn-body", { hidden: "" }, note, inner);
  panel.body.after(body);
  glass.translate(body);
  const wide = widthOf(body, glass);
  const remembered = createMemory();
  /** @type {Run[] | null} what is drawn; null while something of it is missing */
  let both = null;
  let chosen = null;

  /** Everything that is shown: the value line's numbers, then part by part. */
  function csv() {
    if (!both) return [];
    const [a, b] = both;
    const [first, second] = both.map((run) => view.numbers(run, state, glass, chosen));
    const between = view.between?.(a, b, state) ?? {};
    const selected = selectedRows(view.at(state, glass, chosen, b), first, second, between);
    const shown = parts.filter((part) => part.csv && !part.absent?.(b) && ready(part, both));
    /** @type {[string, Rows][]} */
    const rows = shown.map((part) => [part.called, part.csv()]);
    return joined([["selected", selected], ...rows]);
  }

  /**
   * What one run holds of what is read; null until all of it is here.
   *
   * @returns {Run | null}
   */
  function runOf(trace, asked, later) {
    const held = trace.layers.get(state.layer) ?? null;
    const neurons = (view.neurons && held?.neurons.get(state.query)) || null;
    const answersTo = (questions) =>
      Object.entries(questions).map(([name, [what, params]]) => [name, glass.detail(what, params, trace)]);
    const answers = answersTo(asked);
    const details = Object.fromEntries([...answers, ...answersTo(later)]);
    const here = (held || !view.layer) && (neurons || !view.neurons) && answers.every(([, answer]) => answer);
    return here ? { trace, layer: state.layer, held, neurons, details } : null;
  }

  /** @param {Run[]} runs A and B */
  function tell([a, b]) {
    const [first, second] = [a, b].map((run) => view.numbers(run, state, glass, chosen));
    const names = Object.keys(second).filter((name) => name in first);
    const between = Object.entries(view.between?.(a, b, state) ?? {});
    const apart = between.map(([name, value]) => `${name}=${exact(value)}`);
    const plain = names.map(
      (name) =>
        `${name}=${exact(second[name] - first[name])} A.${name}=${exact(first[name])} B.${name}=${exact(second[name])}`,
    );
    const wanted = typeof view.said === "function" ? view.said(b, state, glass) : view.said;
    const said = (wanted?.filter((name) => names.includes(name)) ?? names).map((name) =>
      text(view.worded?.includes(name) ? `number_${name}` : "number", {
        name: text(`n_${name}`, view.words?.(b)),
        a: number(first[name], 5),
        b: number(second[name], 5),
        change: plus(second[name] - first[name], number(second[name] - first[name], 5)),
      }),
    );
    const change = between.map(([name, value]) => text(`number_${name}`, { value: number(value, 5) }));
    const numbers = [...change, ...said].join(" · ");
    const what = view.of?.({ text, named: selectionOf(state), chosen, a, b, state, glass });
    panel.tell(
      `B-A ${view.at(state, glass, chosen, b)} ${[...apart, ...plain].join(" ")}`,
      what ? text("of", { what, numbers }) : numbers,
    );
  }

  /** Says why there is nothing to subtract, or that it is on its way. */
  function say(reason, { A, B }) {
    note.textContent = reason ? glass.text(`sides.${reason}`, { a: A.T, b: B.T }) : "";
    inner.hidden = reason === "models" || reason === "masks" || reason === "lengths";
    if (inner.hidden) panel.tell("", "");
  }

  /** Whether all that a part needs of both runs has come. */
  const ready = (part, runs) => (part.needs ?? []).every((name) => runs.every(({ details }) => details[name]));

  /**
   * Says where nothing differs, once for the whole panel or in the place of a part, and which part is still to
   * come.
   */
  function markSame(runs) {
    const coming = parts.map((part) => !ready(part, runs));
    const gone = parts.map((part) => Boolean(part.absent?.(runs[1])));
    gone.forEach((away, i) => {
      places[i].hidden = away;
    });
    const same = parts.map((part, i) => gone[i] || (!coming[i] && part.same()));
    const all = same.every(Boolean);
    key.hidden = all;
    parts.forEach((part, i) => {
      part.element.classList.toggle("mn-same", same[i] || coming[i]);
      part.element.hidden = all;
      lines[i].hidden = all ? i > 0 : !same[i] && !coming[i];
      lines[i].textContent = coming[i]
        ? glass.text("sides.waiting")
        : sameText(glass.sides(), unused, state, glass.text);
    });
  }

  /**
   * Draws the parts, and says what they show.
   *
   * @param {Run[]} runs A and B
   */
  function show(runs, width, fresh) {
    const [a, b] = runs;
    controls?.show(a, b);
    for (const part of parts) if (!part.absent?.(b) && ready(part, runs)) part.draw(a, b, width, fresh);
    markSame(runs);
    about.textContent = (!key.hidden && view.about?.(a, b, state, text)) || "";
    const pointed =
      parts.map((part) => (part.absent?.(b) ? null : (part.pointed?.() ?? null))).find((at) => at !== null) ?? null;
    chosen = view.choose?.(state, a, b, pointed, glass) ?? pointed;
    tell(runs);
  }

  const paint = inView(
    element,
    function draw(fresh) {
      const sides = glass.sides();
      if (!sides) return;
      panel.title.textContent = text(`title_${kind}`, { ...selectionOf(state), ...view.named?.(glass, text) });
      const reason = hindrance(sides);
      both = null;
      if (reason === "models" || (reason && !view.anyLength)) return say(reason, sides);
      const asked = view.details?.(glass, sides) ?? {};
      const found = [sides.A, sides.B].map((trace) => runOf(trace, asked, view.later?.(glass, sides) ?? {}));
      const width = wide();
      const lack = view.lacks?.(glass, sides) ?? null;
      const waiting = found.includes(null) || lack !== null;
      element.classList.toggle("is-coming", waiting);
      say(waiting ? "waiting" : reason && "ends", sides);
      if (lack !== null) note.textContent = lack;
      if (waiting || width === 0) return;
      both = remembered(found);
      show(both, width, fresh);
    },
    "B-A",
  );

  function hide() {
    if (body.hidden) return;
    body.hidden = true;
    panel.body.hidden = false;
    panel.instead = undefined;
    element.classList.remove("is-coming");
  }
  function draw(fresh) {
    const first = body.hidden;
    body.hidden = false;
    panel.body.hidden = true;
    panel.instead = { csv };
    paint(fresh || first);
  }
  return { draw, hide };
}
