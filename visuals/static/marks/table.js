// Tables: heads named by texts, over rows that are made once and filled again, or made anew.

import { shareSaid } from "../counts.js";
import { brief, h, share } from "../dom.js";

/** @param {string} tag */
const isText = (tag) => tag.includes(".") && !tag.includes(".gp-number");
/**
 * @param {string} tag
 * @param {...(Node | string)} content
 */
function cellOf(tag, ...content) {
  const cell = h(
    tag,
    tag.startsWith("th.gp-token") ? { scope: "row", dir: "auto" } : tag.startsWith("th") ? { scope: "row" } : null,
    ...content,
  );
  if (content.length === 1 && typeof content[0] === "string") writeTexts([cell], [content[0]]);
  return cell;
}

/**
 * @param {string | null} section of the texts that name the columns; null where `entitle` does
 * @param {[string, string][]} columns name, and tag of the cells; heads stand at the left over text, else at the
 *   right
 * @param {{ rows?: number; focus?: boolean; look?: string }} [how] `focus`: the keys reach the rows; `look`:
 *   classes
 */
export function createTable(section, columns, { rows: count = 0, focus = false, look = "" } = {}) {
  const heads = columns.map(([name, tag]) =>
    h(isText(tag) ? "th.is-left" : "th", { scope: "col", ...(section ? { "data-text": `${section}.${name}` } : {}) }),
  );
  const attributes = focus ? { tabindex: "0" } : {};
  const rows = Array.from({ length: count }, () => {
    const fields = columns.map(([, tag]) => cellOf(tag));
    return { line: h("tr", attributes, ...fields), fields };
  });
  const body = h("tbody", null, ...rows.map(({ line }) => line));
  const element = h(`table.gp-table${look}`, null, h("thead", null, h("tr", null, ...heads)), body);
  /**
   * A new row.
   *
   * @param {(Node | string | (Node | string)[])[]} contents by column
   * @param {Parameters<typeof h>[1]} [more] attributes
   */
  const line = (contents, more = {}) =>
    h("tr", { ...attributes, ...more }, ...contents.map((content, i) => cellOf(columns[i][1], ...[content].flat())));
  /**
   * Fills as many rows as there are items, and hides the others.
   *
   * @template Item
   * @param {ArrayLike<Item>} items
   * @param {(fields: HTMLElement[], item: Item, line: HTMLElement) => void} write
   */
  function fill(items, write) {
    rows.forEach(({ line: row, fields }, i) => {
      row.hidden = i >= items.length;
      if (!row.hidden) write(fields, items[i], row);
    });
  }
  /**
   * Marks the rows that are chosen.
   *
   * @param {(row: number) => boolean} chosen
   */
  const mark = (chosen) => rows.forEach(({ line: row }, i) => row.classList.toggle("is-chosen", chosen(i)));
  /**
   * Hides the columns that there is nothing for.
   *
   * @param {(name: string) => boolean} empty
   */
  function hide(empty) {
    columns.forEach(([name], i) => {
      for (const cell of [heads[i], ...rows.map(({ fields }) => fields[i])]) cell.hidden = empty(name);
    });
  }
  /**
   * Writes the heads.
   *
   * @param {(name: string) => string} say
   */
  const entitle = (say) =>
    heads.forEach((head, i) => {
      head.textContent = say(columns[i][0]);
    });
  return { element, body, rows, line, fill, mark, hide, entitle };
}

/**
 * A table in a place that scrolls.
 *
 * @param {string} look classes
 * @param {string} label the key of its name
 * @param {{ element: HTMLElement }} table
 */
export const listed = (look, label, table) =>
  h(`div.gp-list${look}`, { tabindex: "0", role: "region", "data-text-label": label }, table.element);

/**
 * Writes a text into each field, into a number's as `writeNumber` does.
 *
 * @param {HTMLElement[]} fields
 * @param {string[]} texts
 */
export const writeTexts = (fields, texts) =>
  texts.forEach((text, i) => {
    const field = fields[i];
    if (field.classList.contains("gp-number")) writeNumber(field, text);
    else field.textContent = text;
  });

/**
 * Writes a number as it is read (dom.js), with all of its digits on pointing.
 *
 * @param {HTMLElement} field
 * @param {string} text
 * @param {string} [short] as it is read in an equation, which has digits of its own (equation.js)
 */
export function writeNumber(field, text, short = brief(text)) {
  field.textContent = short;
  if (short === text) field.removeAttribute("title");
  else field.title = text;
}

/**
 * Writes a probability as it is read, with all of its digits on pointing.
 *
 * @param {HTMLElement} field
 * @param {import("../types.d.ts").Texts["text"]} text
 * @param {number} p
 */
export function writeShare(field, text, p) {
  field.textContent = shareSaid(text, p);
  field.title = share(p);
}

/**
 * A number's cell of a new row.
 *
 * @param {string} text
 */
export const numberCell = (text) => cellOf("td.gp-number", text);
