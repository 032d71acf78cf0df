// How earlier mixtures of experts would route this run's tokens: top-1 and top-2, slots that run out, the loss that
// keeps experts in balance, and what passes between devices.

import { labelsOf } from "../../characters.js";
import { choices, slider } from "../../controls.js";
import { h } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { bindPointer, inWidth, widthOf } from "../../pointing.js";
import { routingKinds as reader } from "../../readings/routing-kinds.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { drawExchange } from "./exchange.js";
import { firstWithExperts } from "../../readings/routing.js";
import { balanceSum, balanceTable, exchangeText, notice, percent, roomText, schemesTable } from "./routing-parts.js";
import { drawSlots } from "./slots.js";

/** @typedef {import("../../readings/routing-kinds.js").RoutingReading} RoutingReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {import("../../types.d.ts").Model} Model */

const KIND = "routing-kinds";
const [LEAST, MOST, STEP, FIRST] = [0.25, 3, 0.05, 1]; // of the capacity factor

export const about = {
  only: (/** @type {Model} */ model) => firstWithExperts(model) !== null,
  forms: (/** @type {Model} */ { parts: { ffn } }, /** @type {number} */ layer) =>
    ffn[layer].shared ? ["shared"] : [],
  tensors: ["router_scores", "experts", "expert_weight", "ffn_normed", "ffn_out"],
};

/** The choice of a way to route, of the factor, and of how many devices. @param {Glass} glass */
function createControls(glass) {
  const scheme = choices(glass, KIND, "scheme", ["own", "switch", "gshard"]);
  const devices = choices(glass, KIND, "devices", ["2", "4"]);
  const factor = slider("gp-slider", `${KIND}.factor`, { min: LEAST, max: MOST, step: STEP }, (value) =>
    glass.settings.set(KIND, { ...glass.settings.get(KIND), factor: value === FIRST ? "" : String(value) }),
  );
  function now() {
    const given = Number(glass.settings.get(KIND).factor ?? FIRST);
    const known = given >= LEAST && given <= MOST ? given : FIRST;
    return { scheme: scheme.now(), devices: Number(devices.now()), factor: known };
  }
  return { scheme, devices, factor, now };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function routingKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"] });
  const { text } = panel;
  const controls = createControls(glass);
  const [slots, exchange] = ["slots", "exchange"].map((name) =>
    h("canvas.gp-canvas", { role: "img", "data-text-label": `${KIND}.${name}` }),
  );
  /** @type {(x: number, y: number) => number | null} */
  let find = () => null;
  bindPointer(slots, glass, (x, y) => {
    const token = find(x, y);
    return token === null ? null : { query: token };
  });
  const piece = (/** @type {number} */ token) => visible(labelsOf(state.trace?.tokens.pieces ?? [])[token] ?? "");

  /** @param {RoutingReading | null} reading null: not here yet */
  const view = (reading) => html`
    <p class="wy-notice" .textContent=${reading ? notice(reading, text) : ""}></p>
    <h3 class="gp-subtitle" data-text=${`${KIND}.slots_title`}></h3>
    ${controls.scheme.element}
    <div class="ffn-sliders">${controls.factor.element}</div>
    <p .textContent=${reading ? roomText(reading, piece(reading.selection.query), text) : ""}></p>
    ${slots}
    <p class="gp-note" data-text=${`${KIND}.slots_note`}></p>
    <h3 class="gp-subtitle" data-text=${`${KIND}.schemes_title`}></h3>
    <div class="gp-list ffn-all" tabindex="0" role="region" aria-label=${text("schemes_title")}>
      ${reading && schemesTable(reading, text)}
    </div>
    <p class="gp-note" data-text=${`${KIND}.schemes_note`}></p>
    <h3 class="gp-subtitle" data-text=${`${KIND}.exchange_title`}></h3>
    ${controls.devices.element}
    <p .textContent=${reading ? exchangeText(reading, text) : ""}></p>
    ${exchange}
    <div class="gp-columns">
      <div>
        <h3 class="gp-subtitle" data-text=${`${KIND}.balance_title`}></h3>
        <p class="gp-note" data-text=${`${KIND}.balance_note`}></p>
        <div class="gp-formula" lang="en">${reading && balanceSum(reading, text)}</div>
      </div>
      <div class="gp-list" tabindex="0" role="region" aria-label=${text("balance_title")}>
        ${reading && balanceTable(reading, text)}
      </div>
    </div>
  `;
  const [content, none] = [h("div"), h("p.gp-note")];
  panel.body.append(none, content);
  render(view(null), content);

  /** In a layer without experts: that it has none. @param {number} layer */
  function drawDense(layer) {
    panel.title.textContent = glass.text("experts.dense_title", { layer });
    none.textContent = glass.text("experts.dense", { layer, width: state.trace?.model.parts.ffn[layer].width });
    panel.tell(`layer ${layer} dense`, "");
    return undefined;
  }

  /** @param {RoutingReading} reading */
  function tell(reading) {
    const { layer, query } = reading.selection;
    panel.title.textContent = text("title", { layer });
    render(view(reading), content);
    controls.scheme.show();
    controls.devices.show();
    controls.factor.show(reading.selection.factor, `${text("factor_short")} = ${reading.selection.factor}`);
    const gone = percent(reading.means.switch);
    panel.show(reading, text("read", { token: query, piece: piece(query), slots: reading.slots, one: gone }));
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { layer, query, trace } = state;
    const dense = !trace?.model.parts.ffn[layer].experts;
    [content.hidden, none.hidden] = [dense, !dense];
    if (dense) return drawDense(layer);
    const reading = readHere(glass, reader, { layer, query, ...controls.now() });
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    find = drawSlots(slots, width, reading, trace.tokens.pieces, text);
    const { experts, sent } = reading;
    const names = sent.map((_, i) => {
      const [from, to] = [Math.ceil((i * experts) / sent.length), Math.ceil(((i + 1) * experts) / sent.length) - 1];
      return text("experts_of", { from, to });
    });
    drawExchange(exchange, Math.min(width, 760), sent, names, text);
    return () => tell(reading);
  });
}
