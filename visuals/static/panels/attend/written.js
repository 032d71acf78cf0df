// What the head writes to the residual stream at the locked token: size, direction, strongest channels, term by term.

import { linkRows } from "../../controls.js";
import { exact, h, signed } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { part, watched } from "../../reads.js";
import { channelLine, writtenLines } from "./formulas.js";
import { cosine, dot, norm } from "./values.js";

/** @param {object} glass @param {Function} text */
export function createWritten(glass, text) {
  const formula = h("div.gp-formula", { lang: "en" });
  const note = h("p.gp-note");
  const table = createTable("cell", ["channel", "written", "all_heads", "stream"].map((name) => [name, "td"]), { look: ".at-channels" });
  const sum = h("div.gp-formula", { lang: "en" });
  const element = h("div", null, note, h("div.gp-columns", null, h("div", null, formula, sum), table.element));
  const view = watched({ chosen: 0 }, glass.repaint);

  const choose = (rank) => { view.chosen = rank; };
  linkRows(table.body, { preview: choose, select: choose }, ({ dataset }) => Number(dataset.rank), "tr");

  /** @param {object|null} found the detail "head_write", null while it is on its way or the pointer is elsewhere */
  const draw = part((found, layer, head, query) => {
    formula.parentElement.parentElement.hidden = !found;
    note.textContent = found ? text("write_note", { layer, head, query }) : text("write_locked");
    if (!found) return;
    const { chosen } = view;
    const [written, stream] = [found.written.data, found.stream.data];
    const sizes = { written: norm(written), stream: norm(stream), product: dot(written, stream), cosine: cosine(written, stream) };
    formula.replaceChildren(...writtenLines(sizes, text));
    const channels = [...found.channels.data];
    const numbers = (channel) => [written, found.attn_out.data, stream].map((values) => signed(values[channel], 4));
    table.body.replaceChildren(...channels.map((channel, rank) => table.line([String(channel), ...numbers(channel)], { "data-rank": rank, ...(rank === chosen ? { class: "is-chosen" } : {}) })));
    const width = found.mixed.data.length;
    const row = found.rows.data.subarray(chosen * width, (chosen + 1) * width);
    sum.replaceChildren(channelLine(channels[chosen], Float64Array.from(row, (w, i) => w * found.mixed.data[i]), text));
  });

  /** For data-value. */
  const tell = (found) =>
    found
      ? ` written=${exact(norm(found.written.data))} cosine=${exact(cosine(found.written.data, found.stream.data))}`
      : "";
  return { element, draw, tell };
}
