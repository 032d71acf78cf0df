// B − A of a panel that has a reader: numbers are subtracted by name, tables row by row. What is drawn of them, and
// how, the panel says in its `about.difference`.

import { computed, same } from "../reads.js";
import { arcs, headMaps, oneMap } from "./map-parts.js";
import { places } from "./places.js";
import { strips } from "./strips.js";
import { mostChanged, table } from "./table.js";

/**
 * A part of what is drawn: one table of the reading, or what the panel itself draws of one run.
 *
 * @typedef {StripsPart | TablePart | MapPart | CellsPart | HeadMapsPart | ArcsPart} PartView
 *
 * @typedef {object} StripsPart vectors, a strip for each column
 * @property {"strips"} draw
 * @property {string} rows the table's name
 * @property {[string, string][]} columns each with the role that it is coloured in
 * @property {string} [title]
 *
 * @typedef {object} TablePart a row for each row
 * @property {"table"} draw
 * @property {string} rows
 * @property {string} column
 * @property {string} heading
 * @property {(row: RowAbout) => string} name
 * @property {string} [title]
 * @property {boolean} [points] a row stands for what the view `points` to
 * @property {string} [selects] the part of the page's selection that a row's number is; no row depends on it
 * @property {number} [step] rows as they come, each so far from the one before; else the largest changes first
 * @property {boolean} [wordy] names are sentences
 * @property {number} [most] rows that are listed
 *
 * @typedef {{
 *   key: Object<string, any>;
 *   index: number;
 *   a: import("./face.js").Run;
 *   b: import("./face.js").Run;
 *   glass: any;
 *   text: Function;
 * }} RowAbout
 *   `key`: the row's keys in B
 *
 * @typedef {object} MapPart the panel's own map, of marks/depth.js
 * @property {"map"} draw
 * @property {(glass: any, label: string) => any} create
 * @property {string} called
 */

/**
 * @typedef {object} CellsPart the panel's own map of one head, of marks/attention-map.js
 * @property {"cells"} draw
 * @property {(glass: any, label: string) => any} create
 * @property {(glass: any) => string} view what it shows, by the name of the text view_<view>
 *
 * @typedef {object} HeadMapsPart the panel's own grid of heads, of marks/head-grid.js
 * @property {"headMaps"} draw
 * @property {(glass: any, label: string) => any} create
 *
 * @typedef {object} ArcsPart the selected row over the text, of marks/arcs.js
 * @property {"arcs"} draw
 */

/**
 * How B − A of a reading is shown.
 *
 * @typedef {object} ReadingView
 * @property {import("../readings/reading.js").Reader<any>} reader
 * @property {(glass: any) => object} select what the panel's reader is asked for now
 * @property {string} [points] the part of the reader's selection that what is under the pointer stands for
 * @property {(glass: any, value: number) => void} [keep] what a click on such a row keeps
 * @property {PartView[]} parts
 * @property {string[] | ((reading: any) => string[])} [said] the values that are read out; all where it is left out
 * @property {(about: any) => string} [of]
 * @property {(glass: any, text: Function) => object} [named]
 * @property {(glass: any, readIn: (run: any) => any) => import("./face.js").Controls} [controls]
 * @property {(glass: any, sides: { A: any; B: any }) => string | null} [lacks]
 * @property {boolean} [beside]
 * @property {string} [without]
 * @property {string} [note] `of`, `named`, `controls`, `lacks`, `beside`, `without` and `note` are as in face.js
 */

/**
 * The keys of one row of a table, by name.
 *
 * @param {import("../readings/reading.js").Table} table
 */
const keyOf = ({ keys }, i) => Object.fromEntries(Object.entries(keys).map(([name, values]) => [name, values[i]]));

/** Rows as they come, `step` apart. */
const inOrder = (step) => (change) => [...change.keys()].filter((i) => i % step === 0);

/**
 * What a table is read at: of a part of the selection that no row depends on always the first place, so that no
 * other place has the table made anew.
 *
 * @param {(glass: any) => object} select
 * @param {string} [selects]
 * @returns {() => object}
 */
function placeOf(glass, select, selects) {
  let last = null;
  return computed(() => (last = same(last, { ...select(glass), ...(selects ? { [selects]: 0 } : {}) })));
}

/**
 * Makes the parts of a view for one panel.
 *
 * @param {ReadingView} view
 * @param {(run: any, glass: any, chosen: object) => any} readIn
 */
function makers({ reader, select, points, keep }, readIn, glass, text, pointed) {
  const tableOf = (run, name) => readIn(run, glass, {}).rows[name]();

  /** @param {StripsPart} part */
  const ofStrips = ({ rows, columns, title }) =>
    strips({
      title,
      strips: columns,
      values: (run) => tableOf(run, rows).columns,
      chosen: (_state, _glass, changes, b) =>
        points ? readIn(b, glass, pointed()).selection[points] : mostChanged(changes[columns.at(-1)[0]]),
      keep: keep && ((i) => keep(glass, i)),
    });

  /** @param {TablePart} part */
  function ofTable({ rows, column, name, heading, title, points: own, selects, step, wordy, most }) {
    /** @type {import("../readings/reading.js").Table} */
    let shown = { keys: {}, columns: {} }; // of B
    const place = placeOf(glass, select, selects);
    return table({
      title,
      heading,
      values(run) {
        shown = reader.read(run, place()).rows[rows](); // of A, then of B
        return shown.columns[column];
      },
      name: (index, b, _glass, a) => name({ key: keyOf(shown, index), index, a, b, glass, text }),
      order: step && inOrder(step),
      wordy,
      rows: most,
      ...(selects ? { pick: (i) => ({ [selects]: i }), chosen: (state) => state[selects] } : {}),
      ...(selects || own || !points ? {} : { pick: () => ({}) }),
    });
  }

  /** @param {MapPart} part */
  const ofMap =
    ({ create, called }) =>
    () =>
      places(glass, text, create, { called });

  /** @param {CellsPart} part */
  const ofCells =
    ({ create, view }) =>
    () =>
      oneMap(glass, text, create, () => view(glass));

  /** @param {HeadMapsPart} part */
  const ofHeads =
    ({ create }) =>
    () =>
      headMaps(glass, text, create);

  const ofArcs = () => () => arcs(glass, text);

  return { strips: ofStrips, table: ofTable, map: ofMap, cells: ofCells, headMaps: ofHeads, arcs: ofArcs };
}

/**
 * @param {ReadingView} view
 * @returns {import("./face.js").View}
 */
export function fromReading(view) {
  const { reader, select, points, of, named, lacks, beside, without, note, said } = view;
  const readIn = (run, glass, chosen) => reader.read(run, { ...select(glass), ...chosen });
  const pointedAt = (at) => (at === null || !points ? {} : { [points]: at });

  function partsOf(glass, text) {
    /** @type {import("./face.js").Part[]} */
    const built = [];
    const pointed = () => pointedAt(built.map((part) => part.pointed?.() ?? null).find((at) => at !== null) ?? null);
    const make = makers(view, readIn, glass, text, pointed);
    for (const part of view.parts) built.push(make[part.draw](/** @type {any} */ (part))(glass, text));
    return built;
  }

  return {
    layer: reader.layer,
    details: (glass, { B }) => reader.needs?.(B, select(glass)) ?? {},
    at: (_state, glass, chosen, b) => readIn(b, glass, chosen).at,
    choose: (_state, _a, b, at, glass) => readIn(b, glass, pointedAt(at)).selection,
    numbers: (run, _state, glass, chosen) => readIn(run, glass, chosen).values,
    said: typeof said === "function" ? (run, _state, glass) => said(readIn(run, glass, {})) : said,
    of,
    named,
    lacks,
    beside,
    without,
    note,
    controls: view.controls && ((glass) => view.controls(glass, (run) => readIn(run, glass, {}))),
    parts: partsOf,
  };
}
