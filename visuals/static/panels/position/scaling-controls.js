// The choice of method and factor, and the slider of the distance, of the panel on scaling: one setting for every run.
// And the table of methods, what each makes of the slowest pair and of the run's q·k: a click on a row chooses its
// method.

import { linkRows, segmented, slider } from "../../controls.js";
import { count, h, shown, svg } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { FARTHEST } from "../../readings/rope-place.js";
import { METHODS } from "../../readings/rope-scaling.js";
import { adjust, turnText, whole } from "./place.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/rope-scaling.js").MethodRow} MethodRow
 */

const KIND = "rope-scaling";
/**
 * The strokes of the chart.
 *
 * @type {Record<string, number[]>}
 */
export const DASHES = { linear: [2, 3], dynamic: [9, 4], yarn: [9, 3, 2, 3], llama3: [], model: [5, 5] };
const FACTORS = [2, 4, 8, 16, 32];

/**
 * The factor that is chosen.
 *
 * @param {Pick<Glass, "settings">} glass
 */
export function factorOf({ settings }) {
  const { factor } = settings.get("rope");
  return FACTORS.includes(Number(factor)) ? Number(factor) : 4;
}

/**
 * The factor, the method and the distance that a reader has set; null for a distance where none is set.
 *
 * @param {Pick<Glass, "settings">} glass
 */
export function settingsOf({ settings }) {
  const { method, reach } = settings.get("rope");
  const kept = whole(reach, 0, FARTHEST, -1);
  return { factor: factorOf({ settings }), method, distance: kept < 0 ? null : kept };
}

/**
 * Keeps a method as the one that is looked at.
 *
 * @param {Glass} glass
 * @param {string} method
 */
const chooseMethod = (glass, method) => adjust(glass, { method: method === METHODS[0] ? "" : method });

/** @param {Glass} glass */
export function createScalingControls(glass) {
  const methods = segmented(METHODS, {
    label: `${KIND}.method`,
    look: "gp-tab",
    text: (name) => `${KIND}.${name}`,
    choose: (method) => chooseMethod(glass, method),
  });
  const factors = segmented(FACTORS, {
    label: `${KIND}.factor`,
    look: "gp-tab",
    sign: (factor) => `× ${factor}`,
    choose: (factor) => adjust(glass, { factor: factor === 4 ? "" : factor }),
  });
  const reach = slider("gp-slider", `${KIND}.reach`, { min: 0, step: 1 }, (value) => adjust(glass, { reach: value }));
  /** @param {import("../../readings/rope-scaling.js").Stretched} set */
  function show({ methods: offered, limit, selection: { method, factor, distance } }) {
    // Two dimensions have no NTK.
    [...methods.element.children].forEach((button, i) => {
      /** @type {HTMLElement} */ (button).hidden = !offered.some(({ name }) => name === METHODS[i]);
    });
    methods.mark(method);
    factors.mark(factor);
    reach.show(distance, count(distance), { max: limit - 1 });
  }
  return { bar: h("div.position-bar", null, methods.element, factors.element), reach: reach.element, show };
}

/**
 * The line that stands for a method in the chart; none for the unscaled one, which is 1 everywhere.
 *
 * @param {string} role
 * @param {number[] | undefined} dash
 */
function stroke(role, dash) {
  const look = {
    stroke: `var(--glass-${role})`,
    "stroke-width": role === "accent" ? 3 : 1.5,
    "stroke-dasharray": dash?.join(" ") ?? "",
  };
  return svg(
    "svg.position-stroke",
    { width: 34, height: 8, "aria-hidden": "true" },
    ...(dash ? [svg("line", { x1: 0, x2: 34, y1: 4, y2: 4, ...look })] : []),
  );
}

/**
 * @param {string} name of a method
 * @param {string} chosen
 */
const strokeOf = (name, chosen) => stroke(name === chosen ? "accent" : "muted", name === chosen ? [] : DASHES[name]);

/**
 * What each line of the chart stands for.
 *
 * @param {MethodRow[]} rows
 * @param {string} chosen
 * @param {Say} text
 */
export const legendOf = (rows, chosen, text) =>
  rows
    .filter(({ name }) => DASHES[name])
    .map(({ name }) => h("span.gp-sample", null, strokeOf(name, chosen), h("span", null, text(name))));

/** @param {Glass} glass */
export function makeTable(glass) {
  const table = createTable(
    null,
    ["method", "slowest", "attention", "real", "far"].map((name, i) => [name, i ? "td.gp-number" : "th.gp-token"]),
  );
  linkRows(table.body, { select: (method) => chooseMethod(glass, method) }, ({ dataset }) => dataset.method);
  const box = h("div.gp-list.position-table", null, table.element);

  /**
   * @param {MethodRow[]} rows
   * @param {string} chosen
   * @param {Record<string, unknown>} params of the heads
   * @param {Say} text
   */
  function fill(rows, chosen, params, text) {
    table.entitle((name) => text(name, params));
    table.body.replaceChildren(
      ...rows.map(({ name, slowest, frequencies, real, far }) => {
        const sample = strokeOf(name, chosen);
        const numbers = [turnText(slowest), shown(frequencies.scaling, 4), shown(real, 5), shown(far, 5)];
        const line = table.line(
          [[sample, " ", text(name)], ...numbers],
          METHODS.includes(name) ? { tabindex: "0", "data-method": name } : {},
        );
        line.classList.toggle("is-chosen", name === chosen);
        return line;
      }),
    );
  }
  return { box, fill };
}
