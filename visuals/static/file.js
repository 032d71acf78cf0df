// The files that a panel's button save makes. Fetched when one is asked for.

import { h } from "./dom.js";
import { asPage, asVectors, drawingOf, pictureOf, rasterOf } from "./picture.js";

/**
 * @typedef {import("./frame.js").Panel} Panel
 *
 * @typedef {import("./types.d.ts").Glass} Glass
 *
 * @typedef {import("./save.js").Own} Own
 */

/**
 * Hands a file to the reader's downloads.
 *
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * Rows as RFC 4180 has them; a text that a spreadsheet would run as a formula gets a quote in front. Quoted is too
 * what holds ";", at which spreadsheets of some countries split: behind one a formula could begin a cell of its
 * own.
 *
 * @param {(string | number)[][]} rows
 */
export function csvText(rows) {
  /** @param {string | number} value */
  const field = (value) => {
    if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",;\t\r\n']/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

/**
 * An error whose words are the page's own.
 *
 * @param {string} key
 */
const refusal = (key) => Object.assign(new Error(key), { key });

/** @type {Record<"PNG" | "SVG" | "CSV", (panel: Panel, glass: Glass, own: Own) => Blob | Promise<Blob>>} */
const MAKERS = {
  // Excel reads a file without a byte order mark in the system's own code page, where Chinese is no text; other
  // programs take the mark for a part of the first name.
  CSV: (panel, glass, { csv }) => {
    const rows = (panel.instead?.csv ?? csv)();
    if (rows.length < 2) throw refusal("frame.save_empty");
    return new Blob([glass.state.language === "zh" ? "\ufeff" : "", csvText(rows)], { type: "text/csv" });
  },
  SVG: async (panel, glass, { svg }) => {
    const { text } = svg && !panel.instead ? drawingOf(panel, glass, svg()) : await pictureOf(panel, glass, asVectors);
    return new Blob([text], { type: "image/svg+xml" });
  },
  PNG: async (panel, glass) => rasterOf(await pictureOf(panel, glass, asPage)),
};

/**
 * Makes one file of a panel and hands it to the reader's downloads.
 *
 * @param {"PNG" | "SVG" | "CSV"} format
 * @param {Panel} panel
 * @param {Glass} glass
 * @param {string} kind
 * @param {Own} own
 * @throws {Error & { key?: string }} with a `key` where the panel holds nothing yet; any other error is the
 *   browser's
 */
export async function saveAs(format, panel, glass, kind, own) {
  const { trace, layer, query } = glass.state;
  if (!trace) throw refusal("frame.save_empty");
  const place = panel.subject ? "" : `-layer${layer}-token${query}`; // what is of no run has no place in one
  const name = `glass-llama-${kind}${place}.${format.toLowerCase()}`;
  download(name, await MAKERS[format](panel, glass, own));
}
