// The largest channels of the vector, in numbers. Hovering a row shows its channel, a click keeps it.

import { strongest } from "../../compute.js";
import { linkRows } from "../../controls.js";
import { h, shown } from "../../dom.js";

const ROWS = 8;
const FIELDS = ["channel", "x", "share", "after", "gamma", "product"];

/** @param {(channel: number|null, keep: boolean) => void} act called with the row's channel, null when the pointer leaves */
export function createChannels(act) {
  const rows = Array.from({ length: ROWS }, () => {
    const fields = FIELDS.map((name, i) => (i ? h("td.gp-number") : h("th.gp-number", { scope: "row" })));
    return { line: h("tr", { tabindex: "0" }, ...fields), fields };
  });
  let channels = [];
  const head = FIELDS.map((name) => h("th", { scope: "col", "data-text": `norm-vector.${name}` }));
  const body = h("tbody", null, ...rows.map(({ line }) => line));
  const table = h("table.gp-table", null, h("thead", null, h("tr", null, ...head)), body);
  const box = h(
    "div.gp-list.norm-channels",
    { tabindex: "0", role: "region", "data-text-label": "norm-vector.largest" },
    table,
  );

  const look = (channel) => act(channel, false);
  linkRows(table, { preview: look, endPreview: () => look(null), select: (channel) => act(channel, true) }, ({ sectionRowIndex }) => channels[sectionRowIndex]);

  /** @param {import("./vector.js").Vector} vector */
  function fill({ x, gamma, rms, meanSquare }, chosen) {
    channels = strongest(x, ROWS);
    rows.forEach(({ line, fields }, i) => {
      line.hidden = i >= channels.length;
      if (line.hidden) return;
      const c = channels[i];
      const share = `${shown((100 * x[c] ** 2) / (meanSquare * x.length), 3)} %`;
      const texts = [
        String(c),
        shown(x[c], 5),
        share,
        shown(x[c] / rms, 5),
        shown(gamma[c], 5),
        shown((x[c] / rms) * gamma[c], 5),
      ];
      texts.forEach((text, column) => (fields[column].textContent = text));
      line.classList.toggle("is-chosen", c === chosen);
    });
  }
  return { box, fill };
}
