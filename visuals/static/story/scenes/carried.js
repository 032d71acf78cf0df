// What a head carries: values of the tokens it looks at, each times its weight, and what of it is added to the stream.

import { labelsOf } from "../../characters.js";
import { attention, kvHead, vectorOf } from "../../compute.js";
import { exact, h, sub } from "../../dom.js";
import { headOff } from "../../off.js";
import { memo } from "../../reads.js";
import { kept } from "../kept.js";
import { sentences } from "../../panels/glance/words.js";
import { placeOf } from "../place.js";
import { createRows } from "../strips.js";
import { answerOf, bold, few, named, shareSaid, signed, told } from "../words.js";

/** @param {ArrayLike<number>} vector */
const lengthOf = (vector) => Math.hypot(...Array.from(vector));

/**
 * What comes of the word's part in the answer, where the head is followed for that; how wide a head and the stream
 * are.
 *
 * @param {import("../scene.js").Glass} glass
 * @param {import("../../decode.js").Trace} trace
 * @param {import("../place.js").Place} place
 * @param {string} word
 */
function addsSaid(glass, trace, { layer, head, look }, word) {
  const { text } = glass;
  const { model, next } = trace;
  const widths = text("story.carried_widths", { dim: model.head_dim, d: model.d_model });
  if (!look || !next || headOff(trace, layer, head)) return widths;
  const answer = answerOf(text, next.pieces[0], model.eos_ids.includes(next.ids[0]));
  const said = text("story.carried_adds", { word, answer, adds: signed(look.adds) });
  return sentences(text, widths, said, layer < model.n_layers - 1 ? text("story.carried_above") : "");
}

/**
 * @param {import("../scene.js").Glass} glass
 * @returns {import("../scene.js").Scene}
 */
export function createCarried(glass) {
  const { state, text } = glass;
  const rows = createRows(glass, "story.carried_rows");
  const element = h("div", null, rows.element);
  const adds = h("p.st-note");
  const paint = memo((width, word, part, written, stream, theme, _language) => {
    const say = (/** @type {string} */ name, params = {}) => text(`story.carried_${name}`, params);
    rows.paint(
      width,
      [
        { name: say("part", { word }), role: "v", values: part },
        { name: say("written"), role: "output", values: written },
        { name: say("stream"), role: "muted", values: stream },
      ],
      theme,
    );
  });
  return {
    name: "carried",
    behind: ["attend", "cell"],
    part: "carried",
    element,
    notes: adds,
    has: ({ parts: { latent } }) => !latent,
    draw(width) {
      const { trace, language, theme } = state;
      const place = placeOf(glass);
      if (!trace || !place) return null;
      const { layer, head, query, key } = place;
      const held = glass.layerOf(trace, layer);
      const values = glass.detail("values", { layer });
      const write = glass.detail("head_write", { layer, head, query });
      if (!held || !values || !write) return null;
      const { model, tokens } = trace;
      const weight = attention(held, model, head, query)[key] ?? 0;
      const part = partFor(values.v, kvHead(model, head), key, weight);
      const [word, from] = [key, query].map((t) => named(text, labelsOf(tokens.pieces), t));
      paint(width, word, part, write.written.data, write.stream.data, theme, language);
      adds.textContent = addsSaid(glass, trace, place, word);
      const share = lengthOf(write.written.data) / lengthOf(write.stream.data);
      return {
        form: headOff(trace, layer, head) ? "_off" : "",
        select: { layer, head, query, key },
        words: {
          head: bold(text("story.head", { layer, head })),
          word: bold(word, "v"),
          from: bold(from),
          weight: told(shareSaid(text, weight), weight),
          matrix: h("span", null, "W", sub("O")),
          d: String(model.d_model),
          share: told(few(share, 2), share),
        },
        value: `layer ${layer} head ${head} key ${key} weight=${exact(weight)} share=${exact(share)}`,
      };
    },
  };
}

/** α·v of one K/V head and token. */
const partFor = kept(
  (
    /** @type {import("../../decoded.d.ts").NumArray} */ values,
    /** @type {number} */ group,
    /** @type {number} */ key,
    /** @type {number} */ weight,
  ) => Float64Array.from(vectorOf(values, group, key), (x) => weight * x),
);
