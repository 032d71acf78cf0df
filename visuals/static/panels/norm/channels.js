// The largest channels of the vector, in numbers. Hovering a row shows its channel, a click keeps it.

import { strongest } from "../../arrays.js";
import { linkRows } from "../../controls.js";
import { shown } from "../../dom.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { normedAt } from "./steps.js";

const ROWS = 8;
const FIELDS = ["channel", "x", "share", "after", "gamma", "product"];

/** @param {(channel: number|null, keep: boolean) => void} act called with the row's channel, null when the pointer leaves */
export function createChannels(act) {
  const table = createTable("norm-vector", FIELDS.map((name, i) => [name, i ? "td.gp-number" : "th.gp-number"]), { rows: ROWS, focus: true });
  let channels = [];
  const look = (channel) => act(channel, false);
  linkRows(table.element, { preview: look, endPreview: () => look(null), select: (channel) => act(channel, true) }, ({ sectionRowIndex }) => channels[sectionRowIndex]);

  /** @param {import("./vector.js").Vector} vector */
  function fill(vector, chosen) {
    const { x, gamma, mean, meanSquare } = vector;
    channels = strongest(x, ROWS);
    table.fill(channels, (fields, c) => {
      const share = `${shown((100 * (x[c] - mean) ** 2) / (meanSquare * x.length), 3)} %`;
      const { after, product } = normedAt(vector, c);
      writeTexts(fields, [String(c), shown(x[c], 5), share, shown(after, 5), shown(gamma[c], 5), shown(product, 5)]);
    });
    table.mark((i) => channels[i] === chosen);
  }
  return { box: listed(".norm-channels", "norm-vector.largest", table), fill };
}
