// The ways to tell attention where tokens stand, on one row of this run: no position, sinusoidal, T5's learned bias,
// ALiBi, RoPE; what shuffling the tokens changes under each; and where each enters.

import { slider } from "../../controls.js";
import { count, h, percent, shown } from "../../dom.js";
import { fit, ink } from "../../draw.js";
import { frame } from "../../frame.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { axes, chartIn, dot, rule, wholeTicks } from "../../plot.js";
import { inWidth, widthOf } from "../../pointing.js";
import { alibiSlopes, KINDS, ownKind, positionKinds as reader, thereOf } from "../../readings/position-kinds.js";
import { noneAdded } from "../../parts.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { runPrompt } from "../attend/run-prompt.js";
import { named } from "../glance/words.js";
import { formulasOf } from "./kinds-formulas.js";
import { createKindsMap } from "./kinds-map.js";
import { whole } from "./place.js";
import { createWaves } from "./waves.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../readings/position-kinds.js").KindsReading} KindsReading
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 */

const KIND = "position-kinds";
const EXAMPLES = /** @type {Record<string, string>} */ ({ en: "The cat sleeps on the sofa.", zh: "猫在沙发上睡觉" });
const [ORDERS, MOST_HEADS, SLOPES_HIGH] = [999, 128, 190];
/** From so much on one key the kinds' rows look the same. */
const ONE_KEY = 0.95;
/** Nats a token by position: what `python -m model.evaluate.beyond` measures, as model/zoo/README.md has it. */
const BEYOND = [
  { positions: "128–255", small_rope: 1.65, small_alibi: 1.642, bundled: 1.23 },
  { positions: "256–383", small_rope: 1.612, small_alibi: 1.639, bundled: 1.575 },
  { positions: "384–511", small_rope: 1.791, small_alibi: 1.743, bundled: 2.604 },
  { positions: "512–767", small_rope: 1.879, small_alibi: 1.674, bundled: 3.985 },
  { positions: "768–1,023", small_rope: 2.068, small_alibi: 1.705, bundled: 5.539 },
];
/** Every way that the table of words tells of; a learned vector for each position is no number of any run here. */
const WAYS = ["none", "sinusoidal", "absolute", "relative", "alibi", "rope"];

/**
 * What the panel is set to.
 *
 * @param {Glass} glass
 */
function settingsOf({ settings }) {
  const { order, heads } = settings.get(KIND);
  const asked = whole(heads, 1, MOST_HEADS, 0);
  return { order: whole(order, 1, ORDERS, 1), heads: asked || null };
}
/**
 * @param {Glass} glass
 * @param {Record<string, unknown>} change
 */
const adjust = ({ settings }, change) => settings.set(KIND, { ...settings.get(KIND), ...change });

/**
 * @param {Glass} glass
 * @param {{ layer: number; head: number; query: number; key: number }} [place]
 * @returns {import("../../readings/position-kinds.js").KindsSelection}
 */
function select(glass, { layer, head, query, key } = glass.state) {
  return { layer, head, query, key, ...settingsOf(glass) };
}

/**
 * The buttons: another order, the first one, and the example; and the heads that ALiBi's slopes are of.
 *
 * @param {Glass} glass
 */
function createControls(glass) {
  const orderButton = (/** @type {string} */ name, /** @type {() => unknown} */ next) =>
    h("button.gp-tab", {
      "data-text": `${KIND}.shuffle_${name}`,
      "data-part": `shuffle-${name}`,
      click: () => adjust(glass, { order: next() }),
    });
  const order = h(
    "div.gp-tabs",
    null,
    orderButton("next", () => (settingsOf(glass).order % ORDERS) + 1),
    orderButton("first", () => ""),
  );
  const example = h("button.gp-tab", {
    "data-text": `${KIND}.example`,
    "data-part": "example",
    click: () => runPrompt(glass, EXAMPLES[glass.state.language] ?? EXAMPLES.en, {}),
  });
  const heads = slider("gp-slider", `${KIND}.heads`, { min: 1, max: MOST_HEADS, step: 1 }, (value) =>
    adjust(glass, { heads: value === glass.state.trace?.model.n_heads ? "" : value }),
  );
  /** @param {KindsReading} reading */
  const show = ({ heads: count }) => heads.show(count, String(count));
  return { order, example, heads: heads.element, show };
}

/** @param {Glass} glass */
function controlsOfBoth(glass) {
  const { order, heads, show } = createControls(glass);
  return {
    elements: [h("div.position-bar", null, order), h("div.position-sliders", null, heads)],
    show: () =>
      show(/** @type {KindsReading} */ ({ heads: settingsOf(glass).heads ?? glass.state.trace?.model.n_heads })),
  };
}

export const about = {
  tensors: ["attn_normed", "q", "k", "q_rot", "k_rot", "position_bias", "scores"],
  unused: "head",
  absent: noneAdded,
  difference: {
    reader,
    select,
    points: "key",
    controls: controlsOfBoth,
    without: "b_minus_a.without_example",
    said: ["score_none", "score_rope"],
    parts: [
      {
        draw: "table",
        rows: "kinds",
        column: "weight",
        title: "kinds_weight",
        heading: "kind",
        name: (/** @type {any} */ { key: { kind }, glass }) => glass.text(`${KIND}.kind_${kind}`),
        step: 1,
        wordy: true,
      },
      {
        draw: "strips",
        rows: "keys",
        title: "kinds_rows",
        columns: [
          ["weight_none", "muted"],
          ["weight_alibi", "accent"],
          ["weight_rope", "k"],
        ],
      },
    ],
  },
  forms: (/** @type {import("../../types.d.ts").Model} */ { parts: { causal, window } }) =>
    causal === false ? ["sees_all"] : window ? ["window"] : [],
};

/**
 * The slopes of all heads, on a logarithmic axis; the chosen one marked.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {KindsReading} reading
 * @param {(name: string) => string} text
 */
function drawSlopes(canvas, width, { heads, selection: { head } }, text) {
  const context = fit(canvas, width, SLOPES_HIGH);
  const { colour } = ink();
  const slopes = alibiSlopes(heads);
  const y = { low: 2 ** -9, high: 1.2, log: true };
  const chart = chartIn([width, SLOPES_HIGH], [64, 14, 30, 46], { low: -0.5, high: Math.max(1, heads - 0.5) }, y);
  axes(context, chart, { xName: text("slopes_x"), yName: text("slopes_y"), xTicks: wholeTicks(chart) });
  const chosen = Math.min(head, heads - 1);
  rule(context, chart, { y: slopes[chosen], colour: colour("line"), dash: [4, 3] });
  slopes.forEach((slope, i) =>
    dot(context, chart, i, slope, colour(i === chosen ? "accent" : "muted"), i === chosen ? 6 : 4),
  );
}

/** The numbers of every kind at the chosen key, and what the other order changes. */
function createNumbers() {
  /** @type {[string, string][]} */
  const columns = ["score", "weight", "most", "change", "moved"].map((name) => [
    name,
    name === "most" ? "td.position-most" : "td.gp-number",
  ]);
  const table = createTable(KIND, [["kind", "th.gp-token.position-case"], ...columns], { rows: KINDS.length });
  /**
   * @param {KindsReading} reading
   * @param {string[]} pieces
   * @param {Glass["text"]} say
   */
  function fill({ kinds, selection: { key } }, pieces, say) {
    table.fill(kinds, (fields, { kind, own, scores, weights, change, moved }) => {
      const most = weights.indexOf(weights.reduce((a, b) => Math.max(a, b), -1));
      writeTexts(fields, [
        say(`${KIND}.kind_${kind}`) + (own ? say(`${KIND}.own`) : ""),
        shown(scores[key], 4),
        shown(weights[key], 3),
        most < 0 ? "–" : named(say, pieces, most),
        change === 0 ? "0" : shown(change, 3),
        Number.isNaN(moved) ? "–" : percent(moved),
      ]);
    });
    table.mark((i) => kinds[i].own);
  }
  return { box: listed(".position-table.position-numbers", `${KIND}.numbers`, table), fill };
}

/** Where each way enters, whether it is learned, what it does beyond the trained length, what it costs here. */
function createWays() {
  /** @type {[string, string][]} */
  const columns = ["enters", "learned", "beyond", "cost"].map((name) => [name, "td.position-words"]);
  const table = createTable(KIND, [["way", "th.gp-token.position-case"], ...columns], {
    rows: WAYS.length,
    look: ".gp-stacked",
  });
  /**
   * @param {KindsReading} reading
   * @param {Trace} trace
   * @param {(name: string, params?: Record<string, unknown>) => string} text
   */
  function fill({ costs }, { model, T }, text) {
    const numbers = Object.entries(costs).map(([name, cost]) => [name, count(cost)]);
    const params = { ...Object.fromEntries(numbers), tokens: T, context: model.max_context, width: model.d_model };
    table.fill(WAYS, (fields, way) => {
      writeTexts(fields, [text(`kind_${way}`), ...columns.map(([name]) => text(`${name}_${way}`, params))]);
      columns.forEach(([name], i) => {
        fields[i + 1].dataset.head = text(name); // on a telephone it stands in the cell
      });
    });
  }
  return { box: listed(".position-table", `${KIND}.ways`, table), fill };
}

/** The losses beyond the trained length. */
function createBeyond() {
  /** @type {[string, string][]} */
  const columns = ["small_rope", "small_alibi", "bundled"].map((name) => [`beyond_${name}`, "td.gp-number"]);
  const table = createTable(KIND, [["beyond_positions", "th.gp-token"], ...columns], { rows: BEYOND.length });
  table.fill(BEYOND, (fields, { positions, small_rope, small_alibi, bundled }) => {
    const losses = [small_rope, small_alibi, bundled].map((loss) => loss.toFixed(2));
    [positions, ...losses].forEach((words, i) => {
      fields[i].textContent = words;
    });
  });
  return listed(".position-table", `${KIND}.beyond_table`, table);
}

/**
 * That every kind looks at one key here, so that their rows look the same; "" where they do not.
 *
 * @param {KindsReading} reading
 * @param {Trace} trace
 * @param {Glass["text"]} say
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 */
function oneKeyText({ kinds }, trace, say, text) {
  const most = kinds.map(({ weights }) => weights.reduce((a, b) => Math.max(a, b), -1));
  const keys = kinds.map(({ weights }, i) => weights.indexOf(most[i])).filter((_, i) => most[i] >= 0);
  const least = Math.min(...most.filter((weight) => weight >= 0));
  if (least < ONE_KEY || new Set(keys).size !== 1) return "";
  return text("map_one_key", {
    least: shown(Math.floor(least * 1000) / 1000, 3),
    key: named(say, trace.tokens.pieces, keys[0]),
  });
}

/**
 * What to notice: without positions nothing changes; with the network's own kind it does.
 *
 * @param {KindsReading} reading
 * @param {Trace} trace
 * @param {Glass["text"]} say
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 */
function noticeOf({ kinds, places, selection: { head, query } }, trace, say, text) {
  const own = ownKind(trace.model);
  const by = (/** @type {string} */ name) => kinds[KINDS.findIndex((kind) => kind === name)];
  const { change } = by("none");
  return text(places.length < 3 ? "notice_few" : "notice", {
    head,
    count: places.length - 1,
    query: named(say, trace.tokens.pieces, query),
    change: change === 0 ? "0" : shown(change, 2),
    own: text(`kind_${own}`),
    own_change: shown(by(own).change, 2),
    moved: percent(by(own).moved),
    moved_none: percent(by("none").moved),
    window: trace.model.parts.window ?? trace.T,
  });
}

/**
 * What a kind is not shown for, in words.
 *
 * @param {KindsReading} reading
 * @param {Trace} trace
 * @param {(name: string) => string} nameOf how the page names a model
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 */
function lacking({ found: { added, learned }, selection: { head } }, { model }, nameOf, text) {
  const own = ownKind(model);
  const called = nameOf(model.name);
  const said = [
    own === "rope" ? "" : text("llama_rope", { model: called }),
    added ? "" : text("no_added", { model: called }),
    learned ? text("whose_bias", { model: nameOf(learned.model), head: head % learned.bias.shape[0] }) : "",
    !learned && own !== "relative" ? text("no_learned") : "",
  ];
  return oneLine(said);
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function positionKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const [controls, numbers, ways] = [createControls(glass), createNumbers(), createWays()];
  const beyond = createBeyond();
  const [map, waves] = [createKindsMap(glass, text), createWaves(glass, text)];
  const slopes = h("canvas.gp-canvas", { role: "img", "data-text-label": `${KIND}.slopes` });
  const slopesBox = h("div", null, controls.heads, slopes);
  const frequencies = h("div", null, waves.frequencies);
  const [wide, slopesWide, chartWide] = [panel.body, slopesBox, frequencies].map((box) => widthOf(box, glass));
  const title = (/** @type {string} */ name) => html`<h3 class="gp-subtitle" data-text=${`${KIND}.${name}`}></h3>`;
  const note = (/** @type {string} */ said) => html`<p class="gp-note" .textContent=${said}></p>`;

  /** @param {KindsReading | null} reading null before it has come */
  function view(reading) {
    const trace = /** @type {Trace} */ (state.trace);
    return html`
      <p class="wy-notice" .textContent=${reading ? noticeOf(reading, trace, glass.text, text) : ""}></p>
      <div class="position-bar">${controls.order} ${controls.example}</div>
      ${map.element} ${note(reading ? oneKeyText(reading, trace, glass.text, text) : "")}
      ${note(reading ? lacking(reading, trace, glass.modelName, text) : "")}
      <div class="gp-formula" data-part="formula">
        ${reading && formulasOf(reading, trace.model, text, glass.text("marks.colon"))}
      </div>
      ${numbers.box} ${note(text("layers_note"))} ${title("waves_title")} ${note(text("waves_note"))}
      <div class="gp-columns">
        <div>${title("added_title")} ${waves.left}</div>
        <div>${title("turned_title")} ${waves.right}</div>
      </div>
      <div class="gp-columns">
        <div>${title("frequencies_title")} ${frequencies}</div>
        <div>${title("slopes_title")} ${slopesBox}</div>
      </div>
      ${title("ways")} ${ways.box} ${note(text("absolute_note"))} ${title("beyond_title")} ${beyond}
      ${note(text("beyond_note"))}
    `;
  }
  render(view(null), panel.body);

  /** @param {KindsReading} reading */
  function tell(reading) {
    const trace = /** @type {Trace} */ (state.trace);
    const { layer, head, query, key } = reading.selection;
    const { pieces } = trace.tokens;
    const tokens = { query: named(glass.text, pieces, query), key: named(glass.text, pieces, key) };
    panel.title.textContent = text("title", { layer, head, ...tokens });
    const { score_none: none, score_rope: rope } = reading.values;
    panel.show(reading, text("read", { ...tokens, none: shown(none, 4), rope: shown(rope, 4) }));
  }

  return inWidth(element, wide, function draw(width, fresh) {
    const reading = readHere(glass, reader, select(glass), select(glass, state.locked));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    const trace = /** @type {Trace} */ (state.trace);
    map.draw([{ trace, details: { rows: thereOf(reading.kinds), places: reading.places } }], width, fresh);
    const words = waves.draw(trace);
    if (chartWide()) waves.drawChart(chartWide(), trace);
    if (slopesWide()) drawSlopes(slopes, slopesWide(), reading, text);
    return () => {
      controls.show(reading);
      render(view(reading), panel.body);
      numbers.fill(reading, trace.tokens.pieces, glass.text);
      ways.fill(reading, trace, text);
      words();
      tell(reading);
    };
  });
}
