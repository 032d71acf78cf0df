// How wide the feed-forward is: LLaMA's rule step by step, for a published model, for this run's, or for any d.

import { slider } from "../../controls.js";
import { count as whole, h, line, shown, strong, tinted } from "../../dom.js";
import { frame } from "../../frame.js";
import { inWidth, widthOf } from "../../pointing.js";
import { ffnParameters, ffnWidth as reader, llamaWidth } from "../../readings/ffn-width.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { ffnForms } from "../../readings/ffn-kinds.js";
import { drawMatrices } from "./width-bars.js";

/** @typedef {import("../../readings/ffn-width.js").WidthReading} WidthReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "ffn-width";
const [WIDEST, STEP] = [16384, 32]; // of the slider for d
const [MOST_TIMES, MOST_POWER] = [2, 12];

export const about = { tensors: ["gate", "up"], forms: ffnForms };

/**
 * A number of the address, where it is one and in this range.
 *
 * @param {string | undefined} given
 * @param {number} low
 * @param {number} high
 */
function numberIn(given, low, high) {
  const number = Number(given);
  return given && number >= low && number <= high ? number : null;
}

/**
 * @param {Glass} glass
 * @returns {import("../../readings/ffn-width.js").WidthSelection}
 */
function select({ settings, state: { layer } }) {
  const { model = "", d, times, power } = settings.get(KIND);
  const exponent = numberIn(power, 0, MOST_POWER);
  return {
    layer,
    model,
    d: numberIn(d, STEP, WIDEST),
    multiplier: numberIn(times, 1, MOST_TIMES),
    multiple: exponent === null ? null : 2 ** Math.round(exponent),
  };
}

/** The choice of a model, and a slider for each number of the rule. @param {Glass} glass */
function createControls(glass) {
  const set = (/** @type {Record<string, string>} */ change) =>
    glass.settings.set(KIND, { ...glass.settings.get(KIND), ...change });
  const box = h("select", { change: () => glass.settings.set(KIND, { model: box.value }) });
  const choice = h("label.ffn-choice", null, h("span", { "data-text": `${KIND}.model` }), box);
  const d = slider("gp-slider", `${KIND}.d`, { min: STEP, max: WIDEST, step: STEP }, (value) => set({ d: `${value}` }));
  const times = slider("gp-slider", `${KIND}.times`, { min: 1, max: MOST_TIMES, step: 0.1 }, (value) =>
    set({ times: `${value}` }),
  );
  const power = slider("gp-slider", `${KIND}.multiple`, { min: 0, max: MOST_POWER, step: 1 }, (value) =>
    set({ power: `${value}` }),
  );
  let listed = "";
  /** @param {WidthReading} reading */
  function show({ published, selection, rule }) {
    const { trace } = glass.state;
    const own = glass.text(`${KIND}.own`, { model: trace ? glass.modelName(trace.model.name) : "" });
    const names = [["", own], ...published.map(({ model }) => [model, model])];
    if (String(names) !== listed) box.replaceChildren(...names.map(([value, name]) => h("option", { value }, name)));
    listed = String(names);
    box.value = selection.model;
    d.show(rule.d, whole(rule.d));
    times.show(rule.multiplier, String(rule.multiplier));
    power.show(Math.log2(rule.multiple), whole(rule.multiple));
  }
  const element = h("div.ffn-sliders", null, choice, d.element, times.element, power.element);
  return { element, show };
}

/** The rule's steps with their numbers. @param {WidthReading} reading @param {Text} text */
function stepsOf({ steps, rule: { d, multiplier, multiple } }, text) {
  const { four, exact, thirds, scaled, width } = steps;
  const cut = text("cut");
  const times = multiplier * thirds;
  const scaling = `${multiplier} × ${whole(thirds)} = ${whole(times)}`;
  const [many, size] = [Math.ceil(scaled / multiple), whole(multiple)];
  const last = tinted("gate", h("strong", null, whole(width)));
  return [
    line`① 4 · d = 4 × ${whole(d)} = ${whole(four)}`,
    line`② ⅔ · ${whole(four)} = ${whole(exact)}${exact === thirds ? "" : ` → ${whole(thirds)} ${cut}`}`,
    line`③ ${scaling}${times === scaled ? "" : ` → ${whole(scaled)} ${cut}`}`,
    line`④ ⌈${whole(scaled)} / ${size}⌉ × ${size} = ${whole(many)} × ${size} = ${last}`,
  ];
}

/** Why two thirds. @param {WidthReading} reading @param {Text} text */
function equalSum({ steps: { four, width }, rule: { d } }, text) {
  const [two, three] = [ffnParameters(d, four, false), ffnParameters(d, width, true)];
  const share = line`${whole(three)} / ${whole(two)} = ${strong((100 * three) / two, 4)}%`;
  return [
    line`${text("two")} 2 · d · 4d = 8d² = ${whole(two)}`,
    line`${text("three")} 3 · d · ⅔ · 4d = 8d²`,
    line`${text("rounded")} 3 × ${whole(d)} × ${whole(width)} = ${whole(three)}`,
    share,
  ];
}

/** What is so of this run's network. @param {WidthReading} reading @param {Text} text @param {number} layer */
function notice({ own: { d, width, gated, active }, fits }, text, layer) {
  const [thirds, rule] = [llamaWidth(d, 1, 1).width, llamaWidth(d, 1, 256).width];
  const said = {
    d: whole(d),
    width: whole(width),
    active: whole(active),
    layer,
    four: whole(4 * d),
    thirds: whole(thirds),
    rule: whole(rule),
    multiple: fits.at(-1),
    ratio: shown(active / d, 3),
  };
  return text(!gated || active !== width || fits.length ? "notice" : "notice_free", said);
}

/**
 * The matrices: without a gate, with one by the rule, and what the chosen model has where that is another width.
 *
 * @param {WidthReading} reading
 * @param {Text} text
 */
function rowsOf({ steps: { four, width }, rule: { d }, selection: { model }, actual }, text) {
  const gated = (/** @type {number} */ columns) => [
    { name: "W_gate", width: columns, role: "gate" },
    { name: "W_up", width: columns, role: "up" },
    { name: "W_down", width: columns, role: "output" },
  ];
  const plain = (/** @type {number} */ columns) =>
    ["W_1", "W_2"].map((name) => ({ name, width: columns, role: "muted" }));
  const count = (/** @type {number} */ columns, /** @type {boolean} */ gate) => whole(ffnParameters(d, columns, gate));
  const rows = [
    { title: text("row_two", { width: whole(four), count: count(four, false) }), parts: plain(four) },
    { title: text("row_three", { width: whole(width), count: count(width, true) }), parts: gated(width) },
  ];
  if (!actual || actual.width === (actual.gated ? width : four)) return rows;
  const { name, width: own, gated: gate } = actual;
  const title = text(model ? "row_published" : "row_actual", {
    model: name,
    width: whole(own),
    count: count(own, gate),
  });
  return [...rows, { title, parts: (gate ? gated : plain)(own) }];
}

/** @param {WidthReading} reading @param {Text} text */
function tableOf({ published, selection: { model } }, text) {
  const heads = ["model", "d", "f", "matrices", "multiplier", "multiple", "gives"];
  return html`
    <table class="gp-table ffn-widths">
      <thead>
        <tr>
          ${heads.map(
            (name, i) => html`<th scope="col" class=${i ? "" : "is-left"} .textContent=${text(`head_${name}`)}></th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${published.map((row) => {
          const { model: name, d_model: d, width, gated, multiplier, multiple_of: multiple, source } = row;
          const gives = llamaWidth(d, multiplier ?? 1, multiple ?? 256).width;
          return html`
            <tr class=${name === model ? "is-chosen" : ""} title=${source}>
              <th class="gp-token" scope="row">${name}</th>
              <td class="gp-number">${whole(d)}</td>
              <td class="gp-number">${whole(width)}</td>
              <td class="gp-number">${gated ? 3 : 2}</td>
              ${
                multiplier === null || multiple === null
                  ? html`<td class="gp-number" colspan="2">${text(gated ? "free" : "no_gate")}</td>`
                  : html`<td class="gp-number">${multiplier}</td>
                      <td class="gp-number">${whole(multiple)}</td>`
              }
              <td class="gp-number">
                ${gated ? `${whole(gives)}${gives === width && multiplier !== null ? " ✓" : ""}` : "–"}
              </td>
            </tr>
          `;
        })}
      </tbody>
    </table>
  `;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ffnWidth(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const controls = createControls(glass);
  const canvas = h("canvas.gp-canvas", { role: "img", "data-text-label": `${KIND}.bars` });

  /** @param {WidthReading | null} reading null: not here yet */
  const view = (reading) => html`
    <p class="wy-notice" .textContent=${reading ? notice(reading, panel.text, state.layer) : ""}></p>
    ${controls.element} ${canvas}
    <div class="gp-columns">
      <div class="gp-formula" lang="en">${reading && stepsOf(reading, panel.text)}</div>
      <div class="gp-formula">${reading && equalSum(reading, panel.text)}</div>
    </div>
    <h3 class="gp-subtitle" .textContent=${panel.text("table_title")}></h3>
    <p class="gp-note" .textContent=${panel.text("table_note")}></p>
    <div class="gp-list ffn-all" tabindex="0" role="region" aria-label=${panel.text("table_title")}>
      ${reading && tableOf(reading, panel.text)}
    </div>
  `;
  render(view(null), panel.body);

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const reading = readHere(glass, reader, select(glass));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    drawMatrices(canvas, width, rowsOf(reading, panel.text));
    return () => {
      panel.title.textContent = panel.text("title", { width: whole(reading.own.width) });
      render(view(reading), panel.body);
      controls.show(reading);
      panel.show(reading, "");
    };
  });
}
