// The choice of method and factor, and the slider of the distance, of the panel on scaling: one setting for every run.
// And the table of methods, what each makes of the slowest pair and of the run's q·k: a click on a row chooses its
// method.

import { linkRows, segmented, slider } from "../../controls.js";
import { h, shown, svg } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { adjust, FARTHEST, whole } from "./place.js";

const KIND = "rope-scaling";
const METHODS = ["linear", "dynamic", "yarn", "llama3"];
/** The strokes of the chart. */
export const DASHES = { linear: [2, 3], dynamic: [9, 4], yarn: [9, 3, 2, 3], llama3: [], model: [5, 5] };
const FACTORS = [2, 4, 8, 16, 32];

/**
 * What the panel is set to.
 *
 * @param {object | undefined} answer rope_scalings of that factor, which all but the factor depends on
 * @param {number | null} pointed the distance under the pointer
 * @returns {{ factor: number; methods?: object[]; method?: string; limit?: number; distance?: number }} `methods`:
 *   those that are shown; distances are drawn below `limit`
 */
export function settingsOf({ state, settings }, answer, pointed = null) {
  const set = settings.get("rope");
  const factor = FACTORS.includes(Number(set.factor)) ? Number(set.factor) : 4;
  if (!answer) return { factor };
  const own = state.trace.model.rope_scaling !== null;
  const methods = answer.methods.filter(({ name }) => own || name !== "model");
  const method =
    METHODS.includes(set.method) && methods.some(({ name }) => name === set.method) ? set.method : METHODS[0];
  const limit = Math.min(FARTHEST, answer.original * factor);
  const distance = pointed ?? whole(set.reach, 0, limit - 1, Math.min(answer.original, limit - 1));
  return { factor, methods, method, limit, distance };
}

/** Keeps a method as the one that is looked at. */
const chooseMethod = (glass, method) => adjust(glass, { method: method === METHODS[0] ? "" : method });

/** @returns {{ bar: HTMLElement; reach: HTMLElement; show: (set: object) => void }} `show`: what settingsOf gave */
export function createScalingControls(glass) {
  const pick = (values, name, how) => segmented(values, { label: `${KIND}.${name}`, look: "gp-tab", ...how });
  const methods = pick(METHODS, "method", {
    text: (name) => `${KIND}.${name}`,
    choose: (method) => chooseMethod(glass, method),
  });
  const factors = pick(FACTORS, "factor", {
    sign: (factor) => `× ${factor}`,
    choose: (factor) => adjust(glass, { factor: factor === 4 ? "" : factor }),
  });
  const reach = slider("gp-slider", `${KIND}.reach`, { min: 0, step: 1 }, (value) => adjust(glass, { reach: value }));
  function show({ methods: offered, method, factor, limit, distance }) {
    // Two dimensions have no NTK.
    [...methods.element.children].forEach((button, i) => {
      /** @type {HTMLElement} */ (button).hidden = !offered.some(({ name }) => name === METHODS[i]);
    });
    methods.mark(method);
    factors.mark(factor);
    reach.show(distance, String(distance), { max: limit - 1 });
  }
  return { bar: h("div.position-bar", null, methods.element, factors.element), reach: reach.element, show };
}

/** The line that stands for a method in the chart; none for the unscaled one, which is 1 everywhere. */
function stroke(role, dash) {
  const look = {
    stroke: `var(--glass-${role})`,
    "stroke-width": role === "accent" ? 3 : 1.5,
    "stroke-dasharray": dash?.join(" "),
  };
  return svg(
    "svg.position-stroke",
    { width: 34, height: 8, "aria-hidden": "true" },
    ...(dash ? [svg("line", { x1: 0, x2: 34, y1: 4, y2: 4, ...look })] : []),
  );
}

/** @returns {{ box: HTMLElement; fill: Function }} */
export function makeTable(glass) {
  const table = createTable(
    null,
    ["method", "slowest", "attention", "real", "far"].map((name, i) => [name, i ? "td.gp-number" : "th.gp-token"]),
  );
  linkRows(table.body, { select: (method) => chooseMethod(glass, method) }, ({ dataset }) => dataset.method);
  const box = h("div.gp-list.position-table", null, table.element);

  function fill(rows, chosen, params, text) {
    table.entitle((name) => text(name, params));
    table.body.replaceChildren(
      ...rows.map(({ name, slowest, frequencies, real, far }) => {
        const sample = stroke(name === chosen ? "accent" : "muted", name === chosen ? [] : DASHES[name]);
        const numbers = [shown(slowest, 4), shown(frequencies.scaling, 4), shown(real, 5), shown(far, 5)];
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
