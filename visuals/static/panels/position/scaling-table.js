// The table of scaling methods: what each makes of the slowest pair and of the run's q·k. A click chooses a method.

import { linkRows } from "../../controls.js";
import { h, shown, svg } from "../../dom.js";

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
  const names = ["method", "slowest", "attention", "real", "far"];
  const heads = names.map((name) => h(name === "method" ? "th.is-left" : "th", { scope: "col" }));
  const body = h("tbody");
  linkRows(body, { select: choose }, ({ dataset }) => dataset.method);
  const box = h(
    "div.gp-list.position-table",
    null,
    h("table.gp-table", null, h("thead", null, h("tr", null, ...heads)), body),
  );

  function fill(rows, chosen, params, text) {
    heads.forEach((head, i) => (head.textContent = text(names[i], params)));
    body.replaceChildren(
      ...rows.map(({ name, slowest, frequencies, real, far }) => {
        const sample = stroke(name === chosen ? "accent" : "muted", name === chosen ? [] : DASHES[name]);
        const cells = [shown(slowest, 4), shown(frequencies.scaling, 4), shown(real, 5), shown(far, 5)].map((value) =>
          h("td.gp-number", null, value),
        );
        const line = h(
          "tr",
          METHODS.includes(name) ? { tabindex: "0", "data-method": name } : {},
          h("th.gp-token", { scope: "row" }, sample, " ", text(name)),
          ...cells,
        );
        line.classList.toggle("is-chosen", name === chosen);
        return line;
      }),
    );
  }
  return { box, fill };
}
