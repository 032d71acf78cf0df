// The table of scaling methods: what each makes of the slowest pair and of the run's q·k. A click chooses a method.

import { linkRows } from "../../controls.js";
import { h, shown, svg } from "../../dom.js";
import { createTable } from "../../marks/table.js";

export const METHODS = ["linear", "dynamic", "yarn", "llama3"];
/** The strokes of the chart. */
export const DASHES = { linear: [2, 3], dynamic: [9, 4], yarn: [9, 3, 2, 3], llama3: [], model: [5, 5] };

/** The line that stands for a method in the chart; none for the unscaled one, which is 1 everywhere. */
function stroke(role, dash) {
  const look = { stroke: `var(--glass-${role})`, "stroke-width": role === "accent" ? 3 : 1.5, "stroke-dasharray": dash?.join(" ") };
  return svg("svg.position-stroke", { width: 34, height: 8, "aria-hidden": "true" }, ...(dash ? [svg("line", { x1: 0, x2: 34, y1: 4, y2: 4, ...look })] : []));
}

/** @param {(name: string) => void} choose @returns {{ box: HTMLElement, fill: Function }} */
export function makeTable(choose) {
  const table = createTable(null, ["method", "slowest", "attention", "real", "far"].map((name, i) => [name, i ? "td.gp-number" : "th.gp-token"]));
  linkRows(table.body, { select: choose }, ({ dataset }) => dataset.method);
  const box = h("div.gp-list.position-table", null, table.element);

  function fill(rows, chosen, params, text) {
    table.entitle((name) => text(name, params));
    table.body.replaceChildren(
      ...rows.map(({ name, slowest, frequencies, real, far }) => {
        const sample = stroke(name === chosen ? "accent" : "muted", name === chosen ? [] : DASHES[name]);
        const numbers = [shown(slowest, 4), shown(frequencies.scaling, 4), shown(real, 5), shown(far, 5)];
        const line = table.line([[sample, " ", text(name)], ...numbers], METHODS.includes(name) ? { tabindex: "0", "data-method": name } : {});
        line.classList.toggle("is-chosen", name === chosen);
        return line;
      }),
    );
  }
  return { box, fill };
}
