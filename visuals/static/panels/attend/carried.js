// What one key hands over, α·v, beside the head's whole output o = Σ α·v; and what the head writes of that to the
// residual stream at the locked token: size, direction, strongest channels, term by term.

import { dot, largest } from "../../arrays.js";
import { linkRows } from "../../controls.js";
import { exact, h, signed } from "../../dom.js";
import { createStrips } from "../../marks/strips.js";
import { createTable } from "../../marks/table.js";
import { memo, reactive } from "../../reads.js";
import { cosine, mix, norm, valueOf } from "./cell-values.js";
import { carriedLines, channelLine, writtenLines } from "./formulas.js";

/** How the strips of a head stand. */
export const BESIDE = { beside: true, strip: 22, gap: 6 };

/**
 * The strips of q, of k and of their products, which sum to q·k.
 *
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @param {ArrayLike<number>} terms
 * @param {[string, string]} [names] of the first two
 */
export const productStrips = (q, k, terms, [ofQ, ofK] = ["q", "k"]) => [
  { name: ofQ, role: "q", values: q },
  { name: ofK, role: "k", values: k },
  { name: "q × k", role: "accent", values: terms, bars: true },
];

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text
 */
export function createCarried(glass, text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "cell.carried" });
  const note = h("p.gp-note");
  const sums = h("div.gp-formula", { lang: "en" });
  const holder = h("div", null, canvas);
  const element = h("div", null, note, holder, sums);
  const strips = createStrips(canvas, BESIDE);

  /** @param {object | null} values the detail "values", null while it is on its way or the pointer is elsewhere */
  function draw({ weight, weights }, values, width, dimension) {
    note.textContent = text(values ? "carried_note" : "values_locked");
    canvas.hidden = sums.hidden = !values;
    if (!values) return null;
    const { trace, head, key } = glass.state;
    const v = valueOf(values, trace.model, head, key);
    const out = mix(values, trace.model, head, weights);
    const part = Float64Array.from(v, (x) => weight * x);
    const limit = Math.max(largest(out), largest(part));
    const rows = [
      { name: "v", role: "v", values: v },
      { name: "α·v", role: "v", values: part, limit },
      { name: "o", role: "output", values: out, limit, bars: true },
    ];
    strips.draw(width, rows, { chosen: Math.min(dimension, v.length - 1) });
    const [along, square] = [dot(part, out), dot(out, out)];
    const facts = { weight, size: norm(v), along, square, share: square ? along / square : 0 };
    sums.replaceChildren(...carriedLines(facts, text));
    return facts;
  }
  return { element, holder, canvas, draw, find: strips.find };
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {Function} text
 */
export function createWritten(glass, text) {
  const formula = h("div.gp-formula", { lang: "en" });
  const note = h("p.gp-note");
  const table = createTable(
    "cell",
    ["channel", "written", "all_heads", "stream"].map((name) => [name, "td"]),
    { look: ".at-channels" },
  );
  const sum = h("div.gp-formula", { lang: "en" });
  const element = h("div", null, note, h("div.gp-columns", null, h("div", null, formula, sum), table.element));
  const view = reactive({ chosen: 0 }, glass.repaint);

  const choose = (rank) => {
    view.chosen = rank;
  };
  linkRows(table.body, { preview: choose, select: choose }, ({ dataset }) => Number(dataset.rank), "tr");

  /** @param {object | null} found the detail "head_write", null while it is on its way or the pointer is elsewhere */
  const draw = memo((found, layer, head, query) => {
    formula.parentElement.parentElement.hidden = !found;
    note.textContent = found ? text("write_note", { layer, head, query }) : text("write_locked");
    if (!found) return;
    const { chosen } = view;
    const [written, stream] = [found.written.data, found.stream.data];
    const sizes = {
      written: norm(written),
      stream: norm(stream),
      product: dot(written, stream),
      cosine: cosine(written, stream),
    };
    formula.replaceChildren(...writtenLines(sizes, text));
    const channels = [...found.channels.data];
    const numbers = (channel) => [written, found.attn_out.data, stream].map((values) => signed(values[channel], 4));
    table.body.replaceChildren(
      ...channels.map((channel, rank) =>
        table.line([String(channel), ...numbers(channel)], {
          "data-rank": rank,
          ...(rank === chosen ? { class: "is-chosen" } : {}),
        }),
      ),
    );
    const width = found.mixed.data.length;
    const row = found.rows.data.subarray(chosen * width, (chosen + 1) * width);
    sum.replaceChildren(
      channelLine(
        channels[chosen],
        Float64Array.from(row, (w, i) => w * found.mixed.data[i]),
        text,
      ),
    );
  });

  /** For data-value. */
  const tell = (found) =>
    found
      ? ` written=${exact(norm(found.written.data))} cosine=${exact(cosine(found.written.data, found.stream.data))}`
      : "";
  return { element, draw, tell };
}
