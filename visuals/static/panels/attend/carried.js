// What one key hands over, α·v, beside the head's whole output o = Σ α·v; and what the head writes of that to the
// residual stream at the locked token: size, direction, strongest channels, term by term.

import { largest } from "../../arrays.js";
import { linkRows } from "../../controls.js";
import { h, signed } from "../../dom.js";
import { createStrips } from "../../marks/strips.js";
import { createTable, writeTexts } from "../../marks/table.js";
import { memo, reactive } from "../../reads.js";
import { html, render } from "../../vendor/lit-html.js";
import { channelLine, writtenLines } from "./formulas.js";

/**
 * @typedef {import("../../readings/cell.js").Carried} Carried
 *
 * @typedef {import("../../readings/cell.js").Written} Written
 */

/** How the strips of a head stand. */
export const BESIDE = { beside: true, strip: 22, gap: 6 };
const CHANNELS = 8; // of those that a head writes to most, as visuals/attend.py counts them

/**
 * The strips of q, of k and of their products, which sum to q·k.
 *
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} k
 * @param {ArrayLike<number>} terms
 * @param {[string, string]} [names] of the first two
 * @returns {import("../../marks/strips.js").Strip[]}
 */
export const productStrips = (q, k, terms, [ofQ, ofK] = ["q", "k"]) => [
  { name: ofQ, role: "q", values: q },
  { name: ofK, role: "k", values: k },
  { name: "q × k", role: "accent", values: terms, bars: true },
];

/** The strips of v, and of α·v and o, which a lesson covers until they have been guessed. */
export function createCarried() {
  const canvases = [0, 1].map(() => h("canvas.gp-canvas", { "data-text-label": "cell.carried" }));
  const [given, made] = canvases.map((canvas) => createStrips(canvas, BESIDE));

  /**
   * @param {number} width
   * @param {Carried} carried
   * @param {number | null} dimension that is marked
   */
  function draw(width, { v, part, out }, dimension) {
    const limit = Math.max(largest(out), largest(part));
    const rows = [
      { name: "α·v", role: "v", values: part, limit },
      { name: "o", role: "output", values: out, limit, bars: true },
    ];
    const how = { chosen: dimension === null ? null : Math.min(dimension, v.length - 1), lead: { values: out } };
    given.draw(width, [{ name: "v", role: "v", values: v }], how);
    made.draw(width, rows, how);
  }
  const holder = h("div", null, canvases[0], h("div", { "data-answer": "" }, canvases[1]));
  return { holder, canvases, draw, find: given.find };
}

/**
 * The channels that a head writes to most; the one under the pointer is written out below.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {import("../../types.d.ts").Say} text
 */
export function createWritten(glass, text) {
  const table = createTable(
    "cell",
    ["channel", "written", "all_heads", "stream"].map((name, i) => [name, i ? "td.gp-number" : "td"]),
    { rows: CHANNELS, look: ".at-channels" },
  );
  table.rows.forEach(({ line }, rank) => {
    line.dataset.rank = String(rank);
  });
  const view = reactive({ chosen: 0 }, glass.repaint);
  const choose = (/** @type {number} */ rank) => {
    view.chosen = rank;
  };
  linkRows(table.body, { preview: choose, select: choose }, ({ dataset }) => Number(dataset.rank), "tr");
  const element = h("div");

  /**
   * The chosen channel as its sum.
   *
   * @param {Written} written
   * @param {number} rank
   */
  function sumOfChannel({ channels, mixed, rows }, rank) {
    const width = mixed.data.length;
    const row = Float64Array.from({ length: width }, (_, i) => rows.data[rank * width + i] * mixed.data[i]);
    return channelLine(channels.data[rank], row, text);
  }

  /** @param {Written} written */
  function fill({ channels, written, attn_out: all, stream }) {
    table.fill([...channels.data], (fields, channel) => {
      const numbers = [written, all, stream].map(({ data }) => signed(data[channel], 4));
      writeTexts(fields, [String(channel), ...numbers]);
    });
    table.mark((rank) => rank === view.chosen);
  }

  /**
   * @param {Written | null} written
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   */
  function write(written, layer, head, query) {
    if (written) fill(written);
    const note = written ? text("write_note", { layer, head, query }) : text("write_locked");
    const template = html`
      <p class="gp-note" .textContent=${note}></p>
      <div class="gp-columns" ?hidden=${!written}>
        <div>
          <div class="gp-formula" lang="en">${written && writtenLines(written.sizes, text)}</div>
          <div class="gp-formula" lang="en">${written && sumOfChannel(written, view.chosen)}</div>
        </div>
        ${table.element}
      </div>
    `;
    render(template, element);
  }
  const draw = memo(write);
  draw(null, 0, 0, 0, "");
  return { element, draw };
}
