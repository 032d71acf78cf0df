// Two heads on the same text: the weights of A, of B, and A − B, cell by cell.

import { stepper } from "../../controls.js";
import { h, share } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { createMap } from "../../marks/attention-map.js";
import { readApart, readHead } from "../../marks/attention-values.js";
import { headOff } from "../../off.js";
import { inWidth, widthOf } from "../../pointing.js";
import { twoHeads } from "../../readings/attend.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { writtenApart } from "./alike.js";
import { selectedCell, tokenName } from "./cell-selection.js";
import { otherHead } from "./other-head.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {{ layer: number; head: number }} Head
 *
 * @typedef {import("../../readings/attend.js").PairReading} PairReading
 */

const BUDGET = 3; // ms of a frame

/** How titles and the reader name head B. @param {Glass} glass */
const named = (glass) => {
  const { layer, head } = otherHead(glass);
  return { other_layer: layer, other_head: head };
};
/** @param {Glass} glass */
const select = (glass) => ({ ...selectedCell(glass), ...named(glass) });

/**
 * Which head is the second one: layer and head by steps, or the selected one.
 *
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
function createOther(glass) {
  const state = shownIn(glass);
  const other = () => otherHead(glass);
  const keep = (/** @type {Head} */ chosen) => glass.settings.set("difference", chosen);
  const steps = /** @type {const} */ (["layer", "head"]).map((name) =>
    stepper((by) => keep({ ...other(), [name]: Math.max(0, other()[name] + by) }), {
      label: `difference.${name}`,
      back: `difference.${name}_down`,
      on: `difference.${name}_up`,
    }),
  );
  const hold = h("button.at-chip", {
    "data-text": "difference.hold",
    click: () => keep({ layer: state.locked.layer, head: state.locked.head }),
  });
  const element = h(
    "div.at-bar",
    null,
    h("span", { "data-text": "difference.against" }),
    ...steps.map((step) => step.element),
    hold,
  );
  function draw() {
    const { n_layers, n_heads } = state.trace.model;
    const { layer, head } = other();
    [
      [layer, n_layers],
      [head, n_heads],
    ].forEach(([at, count], i) => steps[i].show(String(at), at <= 0, at >= count - 1));
  }
  return { element, draw };
}

/** @param {Glass} glass */
function otherControls(glass) {
  const { element, draw } = createOther(glass);
  return { elements: [element], show: draw };
}

/**
 * The two heads in a run, each null where its layer is not here.
 *
 * @param {{ trace: Trace }} run
 * @param {Glass} glass
 */
const readers = ({ trace }, glass) =>
  [glass.state, otherHead(glass)].map(({ layer, head }) => {
    const held = trace.layers.get(layer);
    return held ? readHead(held, trace.model, head) : null;
  });
/** @type {(run: { trace: Trace }, at: Head) => unknown[]} */
const on = ({ trace }, { layer, head }) => [trace.layers.get(layer), head];

/**
 * The map of head A's weights minus head B's.
 *
 * @param {Glass} glass
 * @param {string} label the key of its name
 * @param {{ map: () => import("../../marks/attention-values.js").CellMap | null }[]} [between] the maps of A and B,
 *   where they are drawn
 */
function apartMap(glass, label, between) {
  return createMap(glass, {
    label,
    between,
    view: () => "difference",
    read(/** @type {{ trace: Trace }} */ run) {
      const [first, second] = readers(run, glass);
      return first && second ? readApart(first, second) : null;
    },
    on: (run) => [...on(run, glass.state), ...on(run, otherHead(glass))],
  });
}

/** The maps of A, of B, and of A − B. @param {Glass} glass */
function createMaps(glass) {
  /** @type {(name: string, i: number, which: () => Head) => ReturnType<typeof apartMap>} */
  const one = (name, i, which) =>
    createMap(glass, {
      label: `difference.map_${name}`,
      read: (/** @type {{ trace: Trace }} */ run) => readers(run, glass)[i],
      on: (run) => on(run, which()),
      off: ({ trace }) => headOff(trace, which().layer, which().head),
    });
  const both = [one("a", 0, () => glass.state), one("b", 1, () => otherHead(glass))];
  return [...both, apartMap(glass, "difference.map_minus", both)];
}

/**
 * That a run has not come as far as head B's layer, in words; null where it has.
 *
 * @param {Glass} glass
 * @param {import("../../difference/face.js").Sides} sides
 */
function lacks(glass, sides) {
  const { layer } = otherHead(glass);
  const here = Object.values(sides).every(({ layers }) => layers.has(layer));
  return here ? null : glass.text("difference.absent", { layer });
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["attention"],
  difference: {
    reader: twoHeads,
    select,
    beside: true,
    controls: otherControls,
    named,
    lacks,
    of: ({ text, named: words }) => text("of_tokens", words),
    said: ["difference"],
    parts: [
      { draw: "cells", create: apartMap, view: () => "difference" },
      {
        draw: "table",
        rows: "weights",
        column: "difference",
        title: "apart",
        heading: "token",
        name: tokenName,
        selects: "key",
      },
    ],
  },
  unused: "head",
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function difference(element, glass) {
  const state = shownIn(glass);
  const maps = createMaps(glass);
  const panel = frame(element, glass, "difference", { parts: ["what", "formula"] });
  const against = createOther(glass);

  /** @param {PairReading} reading */
  function captionsOf({ selection: { layer, head, other_layer, other_head } }) {
    const other = { layer: other_layer, head: other_head };
    return [panel.text("caption_a", { layer, head }), panel.text("caption_b", other), panel.text("caption_minus")];
  }
  /** @param {PairReading} reading */
  const apartText = ({ complete, values, selection: { query } }) =>
    complete ? panel.text("apart", { share: share(values.apart), query }) : "";

  /** @param {PairReading | null} reading null before it has come */
  const view = (reading) => {
    const captions = reading ? captionsOf(reading) : ["", "", ""];
    return html`
      ${against.element}
      <div class="at-pairs">
        ${maps.map(
          (map, i) =>
            html`<figure>
              <figcaption .textContent=${captions[i]}></figcaption>
              ${map.element}
            </figure>`,
        )}
      </div>
      <p class="gp-note" .textContent=${reading ? apartText(reading) : ""}></p>
    `;
  };
  render(view(null), panel.body);

  /** @param {PairReading} reading */
  function tell(reading) {
    const { layer, head, ...other } = reading.selection;
    panel.title.textContent = panel.text("title", { layer, head, ...other });
    if (!reading.complete) return panel.show(reading, panel.text("absent", { layer: other.other_layer }));
    const { a, b } = reading.values;
    return panel.show(reading, panel.text("read", { ...cellNames(state), ...writtenApart(a, b) }));
  }

  const holder = /** @type {HTMLElement} */ (maps[0].element.parentElement);
  return inWidth(element, widthOf(holder, glass), function draw(width) {
    const reading = readHere(glass, twoHeads, select(glass));
    if (!reading) return undefined;
    const end = performance.now() + BUDGET;
    if (!maps.map((map) => map.draw([{ trace: state.trace }], width, end)).every(Boolean)) glass.unfinished();
    return () => {
      against.draw();
      render(view(reading), panel.body);
      tell(reading);
    };
  });
}
