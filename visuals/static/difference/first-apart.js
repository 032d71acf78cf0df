// From where two runs do not differ to the first layer where they do.

import { h } from "../dom.js";

/**
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {{ A: Pick<Trace, "rms">; B: Pick<Trace, "rms"> }} Norms
 *
 * @typedef {{ layer: number; query: number }} Place
 */

const ROUNDING = 1e-4; // of a vector's length: less is what another order of the same sums makes

/**
 * Whether two runs enter a layer at a token with vectors of different lengths; null where no norm tells their
 * length.
 *
 * @param {Norms} runs
 */
function comparer({ A, B }) {
  const [a, b] = [A, B].map(({ rms }) => rms.attn ?? rms.ffn);
  if (!a || !b) return null;
  const [[layers, before], [, now]] = [a.shape, b.shape];
  const differs = (/** @type {number} */ layer, /** @type {number} */ token) => {
    const [first, second] = [a.data[layer * before + token], b.data[layer * now + token]];
    return Math.abs(second - first) > ROUNDING * first;
  };
  return { layers, tokens: Math.min(before, now), differs };
}

/**
 * The first layer that two runs enter differently, at the token that is selected or the next that differs there,
 * else the last one; null where that is nowhere, and where they differ at the selected place already.
 *
 * @param {Norms} runs of one network
 * @param {Place} selected
 * @returns {Place | null}
 */
export function firstApart(runs, selected) {
  const found = comparer(runs);
  if (!found || found.differs(selected.layer, selected.query)) return null;
  const tokens = Array.from({ length: found.tokens }, (_, token) => token);
  for (let layer = 0; layer < found.layers; layer++) {
    const apart = tokens.filter((token) => found.differs(layer, token));
    const query = apart.find((token) => token >= selected.query) ?? apart[apart.length - 1];
    if (query !== undefined) return { layer, query };
  }
  return null;
}

/**
 * A button that goes there.
 *
 * @param {import("../types.d.ts").Glass} glass
 */
export function createFirstApart(glass) {
  /** @type {Place | null} */
  let place = null;
  const element = h("button.gp-option.mn-onward", { hidden: "", click: () => place && glass.select(place) });
  /** @param {Norms | null} runs null where something differs */
  function draw(runs) {
    place = runs && firstApart(runs, glass.state);
    element.hidden = !place;
    if (place) element.textContent = glass.text("b_minus_a.first_apart", { ...place });
  }
  return { element, draw };
}
