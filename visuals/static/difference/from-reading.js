// B − A of a panel that has a reader: numbers are subtracted by name, tables row by row. What is drawn of them, and
// how, the panel says in its `about.difference`.

import { subtract } from "../arrays.js";
import { computed, same } from "../reads.js";
import { arcs, crossMaps, headMaps, oneMap } from "./map-parts.js";
import { places } from "./places.js";
import { byDimension } from "./selection.js";
import { strips } from "./strips.js";
import { mostChanged, table } from "./table.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../types.d.ts").Say} Say
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {import("./face.js").Run} Run
 *
 * @typedef {import("../readings/reading.js").Questions} Questions
 *
 * @typedef {Record<string, any>} Chosen a reading's selection, by name
 */

/**
 * A part of what is drawn, of one table of the reading.
 *
 * @typedef {StripsPart | TablePart | MapPart | CellsPart | HeadMapsPart | ArcsPart | CrossPart | OwnPart} PartView
 *
 *
 * @typedef {object} StripsPart vectors, a strip for each column
 * @property {"strips"} draw
 * @property {string | string[]} rows the table's name, or those of several that stand under one title
 * @property {Column[] | ((reading: any) => Column[])} columns each with the role that it is coloured in, and what
 *   it is saved as where that is another name
 * @property {(reading: any) => Record<string, unknown>} [words] parameters of the texts that name them
 * @property {string} [title]
 * @property {(reading: any, trace: Trace, glass: Glass) => Record<string, string | number>} [named] the title's
 *   parameters, which are saved as columns too
 * @property {boolean} [pairs] a column stands for the pair of dimensions that it belongs to
 * @property {"key" | "neuron"} [selects] the part of the page's selection that a column's number is
 * @property {false} [points] a column stands for nothing, though the view points: marked is what changes most
 *
 * @typedef {import("./strips.js").Named} Column
 *
 * @typedef {object} TablePart a row for each row
 * @property {"table"} draw
 * @property {string} rows
 * @property {string} column
 * @property {string} heading
 * @property {(row: RowAbout) => string} name
 * @property {string} [title]
 * @property {boolean} [points] a row stands for what the view `points` to
 * @property {"layer" | "head" | "query" | "key" | "pair" | "neuron"} [selects] the part of the page's selection
 *   that a row's number is; no row depends on it
 * @property {(row: number, key: RowAbout["key"]) => Partial<import("../selection.js").Selection>} [pick] the page's
 *   selection that a row stands for otherwise
 * @property {number} [step] rows as they come, each so far from the one before; else the largest changes first
 * @property {(a: any, b: any) => number[]} [order] of both readings: which rows are listed, and come first
 * @property {boolean} [wordy] names are sentences
 * @property {number} [most] rows that are listed
 * @property {StripsPart["named"]} [named] as of strips
 * @property {string[]} [needs] which answers that come later it cannot be drawn without
 * @property {(reading: any, trace: Trace) => boolean} [absent] where a run has nothing of the kind
 * @property {boolean} [bare] no bars, since the rows are no amounts of the same
 * @property {boolean} [follows] its rows are of what the view points to, in both runs what that is in B
 * @property {boolean} [kept] the row that a click keeps is marked
 * @property {string[]} [free] parts of the selection that no row depends on
 * @property {false} [saved] another part saves the same numbers
 *
 * @typedef {{
 *   key: Object<string, string | number>;
 *   index: number;
 *   a: Run;
 *   b: Run;
 *   glass: Glass;
 *   text: Say;
 * }} RowAbout
 *   `key`: the row's keys in B
 *
 * @typedef {object} MapPart the panel's own map, of marks/depth.js
 * @property {"map"} draw
 * @property {(glass: Glass, label: string) => import("./places.js").PlacesMap<Run>} create
 * @property {string} called
 * @property {string} [title] over it, where there are several
 *
 * @typedef {object} CellsPart the panel's own map of one head, of marks/attention-map.js
 * @property {"cells"} draw
 * @property {(glass: Glass, label: string) => import("./map-parts.js").HeadMap} create
 * @property {(glass: Glass) => string} view what it shows, by the name of the text view_<view>
 *
 * @typedef {object} HeadMapsPart the panel's own grid of heads, of marks/head-grid.js
 * @property {"headMaps"} draw
 * @property {(glass: Glass, label: string) => import("./map-parts.js").HeadGrid} create
 *
 * @typedef {object} ArcsPart the selected row over the text, of marks/arcs.js
 * @property {"arcs"} draw
 *
 * @typedef {object} CrossPart the panel's own maps of a decoder's look at its source
 * @property {"crossMaps"} draw
 * @property {(glass: Glass, label: string) => import("./map-parts.js").CrossMaps} create
 *
 * @typedef {object} OwnPart the panel's own drawing for two runs
 * @property {"own"} draw
 * @property {(about: OwnAbout) => import("./face.js").Part} create
 *
 * @typedef {object} OwnAbout
 * @property {Glass} glass
 * @property {Say} text of the section "b_minus_a"
 * @property {(a: Run, b: Run) => Chosen} chosen the selection that both runs are read at
 */

/**
 * How B − A of a reading is shown.
 *
 * @typedef {object} ReadingView
 * @property {import("../readings/reading.js").Reader<any>} reader
 * @property {(glass: Glass) => Chosen} select what the panel's reader is asked for now
 * @property {string} [points] the part of the reader's selection that what is under the pointer stands for
 * @property {(glass: Glass, value: number) => void} [keep] what a click on such a row keeps
 * @property {PartView[]} parts
 * @property {string[] | ((reading: any) => string[])} [said] the values that are read out; all where it is left out
 * @property {import("./face.js").View<Run, Chosen>["of"]} [of]
 * @property {(a: any, b: any) => Record<string, number>} [between] of the readings of A and B: numbers that no
 *   subtraction of numbers gives
 * @property {string[]} [worded] as in face.js
 * @property {(glass: Glass, text: Say) => object} [named]
 * @property {(glass: Glass, readIn: (run: Run) => any) => import("./face.js").Controls} [controls]
 * @property {string} [without]
 * @property {string} [note] `of`, `named`, `controls`, `without` and `note` are as in face.js
 * @property {boolean} [beside]
 * @property {boolean} [anyLength]
 * @property {(glass: Glass, sides: import("./face.js").Sides) => string | null} [lacks] `beside`, `anyLength` and
 *   `lacks` too
 * @property {string[]} [waits] which answers that come later nothing is subtracted without
 * @property {{ rows: string; column: string }} [most] what is pointed to where nothing is and the selection leaves
 *   it open: the row that changes most; else what the reader takes in B
 * @property {(a: any, b: any) => number} [first] the same, of both readings
 * @property {(a: any, b: any, text: Say) => string} [about] of both readings: as in face.js
 */

/**
 * The keys of one row of a table, by name.
 *
 * @param {import("../readings/reading.js").Table} table
 * @param {number} i
 */
const keyOf = ({ keys }, i) => Object.fromEntries(Object.entries(keys).map(([name, values]) => [name, values[i]]));

/** Rows as they come, `step` apart. @param {number} step */
const inOrder = (step) => (/** @type {Float64Array} */ change) => [...change.keys()].filter((i) => i % step === 0);

/**
 * What a table is read at: of the parts of the selection that no row depends on always the first place, so that no
 * other place has the table made anew.
 *
 * @param {Glass} glass
 * @param {ReadingView["select"]} select
 * @param {string[]} free
 * @returns {() => Chosen}
 */
function placeOf(glass, select, free) {
  const first = Object.fromEntries(free.map((name) => [name, 0]));
  /** @type {Chosen | null} */
  let last = null;
  return computed(() => {
    const now = { ...select(glass), ...first };
    return (last = last ? same(last, now) : now);
  });
}

/**
 * A part of a reader that needs the layer: then every run has it.
 *
 * @param {import("./face.js").Part<import("./face.js").LayerRun>} part
 */
const withLayer = (part) => /** @type {import("./face.js").Part} */ (part);

/**
 * What makes the parts of a view for one panel.
 *
 * @param {ReadingView} view
 * @param {(
 *   run: Run,
 *   glass: Glass,
 *   chosen: Partial<Chosen>,
 * ) => import("../readings/reading.js").Reading<Chosen>} readIn
 * @param {Glass} glass
 * @param {Say} text
 * @param {() => Partial<Chosen>} pointed the part of the selection that is under the pointer
 * @param {(a: Run, b: Run, at: number | null, glass: Glass) => Chosen} chosenIn
 */
function maker({ reader, select, points, keep }, readIn, glass, text, pointed, chosenIn) {
  const tableOf = (/** @type {Run} */ run, /** @type {string} */ name) => readIn(run, glass, {}).rows[name]();
  /**
   * @param {{ title?: string; named?: StripsPart["named"]; follows?: boolean }} part
   * @returns {import("./heading.js").Titled<Run>}
   */
  const titled = ({ title, named, follows = false }) => ({
    title,
    named: named && ((_state, b) => named(readIn(b, glass, follows ? pointed() : {}), b.trace, glass)),
  });

  /** @param {StripsPart} part */
  function ofStrips({ rows, columns, words, pairs, points: own, selects, ...more }) {
    const tables = [rows].flat();
    /** @param {Run} run */
    const named = (run) => (typeof columns === "function" ? columns(readIn(run, glass, {})) : columns);
    /** @param {Run} run */
    const lastOf = (run) => named(run)[named(run).length - 1][0];
    const drawn = {
      ...titled(more),
      strips: named,
      words: words && ((/** @type {Run} */ run) => words(readIn(run, glass, {}))),
      values: (/** @type {Run} */ run) => Object.assign({}, ...tables.map((name) => tableOf(run, name).columns)),
    };
    /** @type {import("./strips.js").StripsView<Run>["chosen"]} */
    const most = (_state, _glass, changes, b) => mostChanged(changes[lastOf(b)]);
    if (pairs) return strips({ ...drawn, ...byDimension });
    if (selects) {
      /** @type {import("./strips.js").StripsView<Run>["chosen"]} */
      const selected = (state, _glass, _changes, b) => state[selects] ?? readIn(b, glass, {}).selection[selects];
      return strips({ ...drawn, chosen: selected, pick: (i) => ({ [selects]: i }) });
    }
    if (own === false) return strips({ ...drawn, chosen: most, pick: () => ({}) });
    return strips({
      ...drawn,
      // what lies beyond the strip is marked at its end
      chosen: points
        ? (_state, _glass, changes, b) =>
            Math.min(readIn(b, glass, pointed()).selection[points], changes[lastOf(b)].length - 1)
        : most,
      keep: keep && ((i) => keep(glass, i)),
    });
  }

  /** @param {TablePart} part */
  function ofTable({ rows, column, name, heading, points: own, selects, step, wordy, most, ...more }) {
    const { order, pick, needs, absent, bare, follows, kept, saved, free = [] } = more;
    const place = placeOf(glass, select, selects ? [...free, selects] : free);
    const chosenFor = (/** @type {Run} */ b) => (follows ? readIn(b, glass, pointed()).selection : place());
    /** @type {import("../readings/reading.js").Table} */
    let shown = { keys: {}, columns: {} }; // of B
    const readAt = (/** @type {Run} */ run, /** @type {Run} */ b) => reader.read(run, chosenFor(b));
    const made = table({
      ...titled(more),
      heading,
      needs,
      absent: absent && ((/** @type {Run} */ run) => absent(readIn(run, glass, {}), run.trace)),
      bare,
      values(run, _state, _glass, b) {
        shown = readAt(run, b).rows[rows](); // of A, then of B
        return shown.columns[column];
      },
      name: (index, b, _glass, a) => name({ key: keyOf(shown, index), index, a, b, glass, text }),
      order: order ? (_change, b, a) => order(readAt(a, b), readAt(b, b)) : step ? inOrder(step) : undefined,
      wordy,
      rows: most,
      ...(pick ? { pick: (i) => pick(i, keyOf(shown, i)) } : {}),
      ...(selects ? { pick: (i) => ({ [selects]: i }), chosen: (state) => state[selects] } : {}),
      ...(kept && points ? { chosen: () => select(glass)[points] } : {}),
      ...(pick || selects || own || !points ? {} : { pick: () => ({}) }),
    });
    /** @type {typeof made} */
    const unsaved = (...given) => ({ ...made(...given), csv: undefined });
    return saved === false ? unsaved : made;
  }

  /**
   * @param {PartView} part
   * @returns {(glass: Glass, text: Say) => import("./face.js").Part}
   */
  return function make(part) {
    if (part.draw === "strips") return ofStrips(part);
    if (part.draw === "table") return ofTable(part);
    if (part.draw === "map") return () => places(glass, text, part.create, part);
    if (part.draw === "cells") return () => withLayer(oneMap(glass, text, part.create, () => part.view(glass)));
    if (part.draw === "headMaps") return () => withLayer(headMaps(glass, text, part.create));
    if (part.draw === "arcs") return () => withLayer(arcs(glass, text));
    if (part.draw === "own") {
      const chosen = (/** @type {Run} */ a, /** @type {Run} */ b) =>
        chosenIn(a, b, points ? (pointed()[points] ?? null) : null, glass);
      return () => part.create({ glass, text, chosen });
    }
    return () => withLayer(crossMaps(glass, part.create, (a, b, at) => chosenIn(a, b, at, glass)[points ?? ""]));
  };
}

/**
 * @param {ReadingView} view
 * @returns {import("./face.js").View<Run, Chosen>}
 */
export function fromReading(view) {
  const { reader, select, points, of, named, without, note, said, beside, lacks, waits = [], most, controls } = view;
  const { between, worded, anyLength, first, about } = view;
  /** @type {(run: Run, glass: Glass, chosen: Partial<Chosen>) => import("../readings/reading.js").Reading<any>} */
  const readIn = (run, glass, chosen) => reader.read(run, { ...select(glass), ...chosen });
  /** @type {(at: number | null) => Partial<Chosen>} */
  const pointedAt = (at) => (at === null || !points ? {} : { [points]: at });

  /**
   * What the view takes where nothing is pointed to and the selection leaves it open; null: what the reader takes.
   *
   * @param {Run} a
   * @param {Run} b
   * @param {Glass} glass
   */
  function firstIn(a, b, glass) {
    if (!first && !most) return null;
    const [one, other] = [a, b].map((run) => readIn(run, glass, {}));
    if (first || !most) return first?.(one, other) ?? null;
    const [before, after] = [one, other].map(({ rows }) => rows[most.rows]().columns[most.column]);
    return before.length === after.length ? mostChanged(subtract(after, before)) : 0; // 0: one is not here yet
  }
  /**
   * The selection that both runs are read at: B's, with what the pointer is on (null: nothing).
   *
   * @param {Run} a
   * @param {Run} b
   * @param {number | null} at
   * @param {Glass} glass
   * @returns {Chosen}
   */
  function chosenIn(a, b, at, glass) {
    const open = at === null && points && (select(glass)[points] ?? null) === null;
    return readIn(b, glass, pointedAt(open ? firstIn(a, b, glass) : at)).selection;
  }
  /** @type {(glass: Glass, run: Trace) => (...asked: import("../readings/reading.js").Question) => unknown} */
  const answeredOf = (glass, run) => (what, params) => glass.detail(what, params, run);
  /**
   * What the server is asked of each run: what is waited for, or what is not.
   *
   * @type {(glass: Glass, sides: import("./face.js").Sides, waited: boolean) => Questions}
   */
  const asked = (glass, { B }, waited) => {
    const later = Object.entries(reader.later?.(B, select(glass), answeredOf(glass, B)) ?? {});
    return Object.fromEntries(later.filter(([name]) => waits.includes(name) === waited));
  };
  /** @type {(glass: Glass, sides: import("./face.js").Sides) => Questions} */
  const needed = (glass, { B }) => reader.needs?.(B, select(glass), answeredOf(glass, B)) ?? {};

  /** @type {import("./face.js").View["parts"]} */
  function partsOf(glass, text) {
    /** @type {import("./face.js").Part[]} */
    const built = [];
    const pointed = () => pointedAt(built.map((part) => part.pointed?.() ?? null).find((at) => at !== null) ?? null);
    const make = maker(view, readIn, glass, text, pointed, chosenIn);
    for (const part of view.parts) built.push(make(part)(glass, text));
    return built;
  }

  return {
    layer: reader.layer,
    neurons: reader.neurons,
    anyLength,
    details: (glass, sides) => ({ ...needed(glass, sides), ...asked(glass, sides, true) }),
    later: (glass, sides) => asked(glass, sides, false),
    at: (_state, glass, chosen, b) => readIn(b, glass, chosen).at,
    choose: (_state, a, b, at, glass) => chosenIn(a, b, at, glass),
    numbers: (run, _state, glass, chosen) => readIn(run, glass, chosen).values,
    said: typeof said === "function" ? (run, _state, glass) => said(readIn(run, glass, {})) : said,
    of,
    between: between && ((a, b, _state, glass, chosen) => between(readIn(a, glass, chosen), readIn(b, glass, chosen))),
    about: about && ((a, b, _state, text, glass) => about(readIn(a, glass, {}), readIn(b, glass, {}), text)),
    worded,
    named,
    without,
    note,
    beside,
    lacks,
    controls: controls && ((glass) => controls(glass, (run) => readIn(run, glass, {}))),
    parts: partsOf,
  };
}
