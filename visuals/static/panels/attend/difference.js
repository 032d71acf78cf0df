// Two heads on the same text: the weights of A, of B, and A − B, cell by cell.

import { row } from "../../compute.js";
import { stepper } from "../../controls.js";
import { exact, h, share, signed } from "../../dom.js";
import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { headOff } from "../../off.js";
import { createMap } from "../../marks/attention-map.js";
import { readApart, readHead } from "../../marks/attention-values.js";
import { inWidth, widthOf } from "../../pointing.js";

const BUDGET = 3; // ms of a frame

/**
 * Head B: what was chosen, at first the head after the locked one.
 *
 * @returns {{ layer: number; head: number }}
 */
export function otherHead({ state, settings }) {
  const { n_layers, n_heads } = state.trace.model;
  const { layer, head } = settings.get("difference");
  const whole = (value, count, otherwise) =>
    /^\d{1,4}$/.test(value ?? "") ? Math.min(Number(value), count - 1) : otherwise;
  return {
    layer: whole(layer, n_layers, state.locked.layer),
    head: whole(head, n_heads, (state.locked.head + 1) % n_heads),
  };
}

/**
 * Which head is the second one: layer and head by steps, or the selected one.
 *
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createOther(glass) {
  const { state } = glass;
  const other = () => otherHead(glass);
  const keep = (chosen) => glass.settings.set("difference", chosen);
  const steps = ["layer", "head"].map((name) =>
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

/** The two heads in a run, each null where its layer is not here. */
const readers = ({ trace }, glass) =>
  [glass.state, otherHead(glass)].map(({ layer, head }) =>
    trace.layers.has(layer) ? readHead(trace.layers.get(layer), trace.model, head) : null,
  );
const on = ({ trace }, { layer, head }) => [trace.layers.get(layer), head];

/**
 * The map of head A's weights minus head B's.
 *
 * @param {string} label the key of its name
 * @param {object[]} [between] the maps of A and B, where they are drawn
 */
export function apartMap(glass, label, between) {
  return createMap(glass, {
    label,
    between,
    view: () => "difference",
    read(run) {
      const [first, second] = readers(run, glass);
      return first && second ? readApart(first, second) : null;
    },
    on: (run) => [...on(run, glass.state), ...on(run, otherHead(glass))],
  });
}

export const about = { tensors: ["attention"], difference: "attend", unused: "head" };

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function difference(element, glass) {
  const { state } = glass;
  const other = () => otherHead(glass);
  const one = (name, i, which) =>
    createMap(glass, {
      label: `difference.map_${name}`,
      read: (run) => readers(run, glass)[i],
      on: (run) => on(run, which()),
      off: ({ trace }) => headOff(trace, which().layer, which().head),
    });
  const both = [one("a", 0, () => state), one("b", 1, other)];
  const maps = [...both, apartMap(glass, "difference.map_minus", both)];
  const panel = frame(element, glass, "difference", { csv: () => table(), parts: ["what", "formula"] });
  const text = (name, params) => panel.text(name, params);
  const captions = maps.map(() => h("figcaption"));
  const against = createOther(glass);
  const note = h("p.gp-note");
  const first = h("figure", null, captions[0], maps[0].element);
  panel.body.append(
    against.element,
    h("div.at-pairs", null, first, ...[1, 2].map((i) => h("figure", null, captions[i], maps[i].element))),
    note,
  );

  /**
   * A head's row at the selected query; null where its layer is not here.
   *
   * @returns {Float64Array | null}
   */
  function weightsOf({ layer, head }) {
    const { trace, query } = state;
    return trace.layers.has(layer) ? row(trace.layers.get(layer), trace.model, head, query).weights : null;
  }

  function table() {
    const { trace, layer, head, query } = state;
    const b = other();
    const lines = [
      ["query", "key", "piece", `layer_${layer}_head_${head}`, `layer_${b.layer}_head_${b.head}`, "difference"],
    ];
    const [ofA, ofB] = [weightsOf(state), weightsOf(b)];
    if (!ofA || !ofB) return lines;
    return [
      ...lines,
      ...Array.from(ofA, (weight, key) => [query, key, trace.tokens.pieces[key], weight, ofB[key], weight - ofB[key]]),
    ];
  }

  function tell(b) {
    const { layer, head, query, key } = state;
    const [weights, others] = [weightsOf(state), weightsOf(b)];
    if (!others) return panel.tell(`layer ${layer} head ${head}`, text("absent", b));
    const apart = weights.reduce((sum, weight, t) => sum + Math.abs(weight - others[t]), 0) / 2;
    const [ofA, ofB] = [weights[key], others[key]];
    const place = `layer ${layer} head ${head} minus layer ${b.layer} head ${b.head} query ${query} key ${key}`;
    panel.tell(
      `${place} a=${exact(ofA)} b=${exact(ofB)} difference=${exact(ofA - ofB)} apart=${exact(apart)}`,
      text("read", { ...cellNames(state), a: share(ofA), b: share(ofB), difference: signed(ofA - ofB, 4) }),
    );
    note.textContent = text("apart", { share: share(apart), query });
    return undefined;
  }

  return inWidth(element, widthOf(first, glass), function draw(width) {
    const { trace, layer, head } = state;
    const held = glass.layer();
    if (!held) return;
    const b = other();
    const end = performance.now() + BUDGET;
    if (!maps.map((map) => map.draw([{ trace }], width, end)).every(Boolean)) glass.unfinished();
    against.draw();
    captions[0].textContent = text("caption_a", { layer, head });
    captions[1].textContent = text("caption_b", b);
    captions[2].textContent = text("caption_minus");
    panel.title.textContent = text("title", { layer, head, other_layer: b.layer, other_head: b.head });
    tell(b);
  });
}
