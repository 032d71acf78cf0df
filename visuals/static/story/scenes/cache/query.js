// Why no query is kept: the newest token alone asks. Its query meets the keys of all tokens; the lines are as strong as
// its weights.

import { labelsOf } from "../../../characters.js";
import { attention } from "../../../compute.js";
import { exact, h, svg } from "../../../dom.js";
import { memo } from "../../../reads.js";
import { elementBytes } from "../../../readings/kv.js";
import { bytesEach, bytesTold, formOf } from "../../held.js";
import { kept } from "../../kept.js";
import { bold, lengthOf, named, onEdge, shareSaid } from "../../words.js";

const [MOST, BOX, ASKS, KEYS, WORDS] = [16, 26, 30, 130, 192]; // tokens, and px
const [FAINT, GAP] = [0.3, 3]; // of a line: so faint ones are seen on either ground; and px between boxes

/**
 * @param {number} x
 * @param {number} y
 * @param {"q" | "k" | "v"} role
 * @param {number} wide
 * @param {string} [look]
 */
const box = (x, y, role, wide, look = "") =>
  svg(
    `g.st-box${look}`,
    { style: `--hue: var(--glass-${role})` },
    svg("rect", { x: x - wide / 2, y: y - BOX / 2, width: wide, height: BOX, rx: 5 }),
    svg("text", { x, y: y + 5, "text-anchor": "middle" }, role),
  );

/** How far a slanted word, at 60°, reaches to the left of its column, px. @param {string} word */
const reachOf = (word) => lengthOf(word) / 2;
/** How tall a drawing is, px: down to the end of its longest word. @param {string[]} words */
const tallOf = (words) => WORDS + Math.max(...words.map(lengthOf)) * Math.sin(Math.PI / 3);

/**
 * @param {string[]} words of the last tokens
 * @param {number[]} weights that the last one gives them
 * @param {number} width
 */
function drawingOf(words, weights, width) {
  const close = width / words.length;
  const left = Math.max(0, ...words.map((word, i) => reachOf(word) - (i + 0.5) * close)); // for the first words
  const step = (width - left) / words.length;
  const wide = Math.min(BOX, step - GAP);
  const x = (/** @type {number} */ i) => left + (i + 0.5) * step;
  const last = words.length - 1;
  const lines = weights.map((weight, i) =>
    svg("line.st-asked", {
      x1: x(last),
      y1: ASKS + BOX / 2,
      x2: x(i),
      y2: KEYS - BOX / 2,
      "stroke-opacity": Math.max(FAINT, weight).toFixed(3),
      "stroke-width": (1 + 5 * weight).toFixed(2),
    }),
  );
  const columns = words.flatMap((word, i) => [
    box(x(i), ASKS, "q", wide, i === last ? ".is-on" : ".is-gone"),
    box(x(i), KEYS, "k", wide, ".is-on"),
    box(x(i), KEYS + BOX + 4, "v", wide, ".is-on"),
    svg("text", { transform: `translate(${x(i) + 4} ${WORDS}) rotate(-60)`, "text-anchor": "end" }, word),
  ]);
  return [...lines, ...columns];
}

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createQuery(glass) {
  const { state, text } = glass;
  const drawing = svg("svg.st-asks-all", { role: "img" });
  const some = h("p.st-note"); // with the picture, which is seen before the guess
  const note = h("p.st-note");
  const paint = memo((/** @type {string[]} */ words, weights, width, label) => {
    drawing.setAttribute("viewBox", `0 0 ${width} ${tallOf(words)}`);
    drawing.setAttribute("aria-label", label);
    drawing.replaceChildren(...drawingOf(words, weights, width));
  });
  return {
    name: "query",
    behind: ["kv", "kv-live"],
    element: h("div", null, drawing, some),
    notes: note,
    draw(width) {
      const { trace, layer, head } = state;
      const held = trace && glass.layerOf(trace, layer);
      if (!trace || !held) return null;
      const { model, tokens, T } = trace;
      const shown = shownOf(attention(held, model, head, T - 1), tokens.pieces);
      paint(shown.words, shown.weights, width, text("story-cache.query_drawing", { layer, head }));
      const [all, count] = [tokens.pieces.length, shown.words.length];
      some.textContent = count < all ? text("story-cache.query_some", { shown: count, all }) : "";
      const weight = shareSaid(text, Math.max(...shown.weights));
      note.textContent = text("story-cache.query_note", { layer, head, weight });
      const [each, more] = [bytesEach(trace), model.n_layers * model.n_heads * model.head_dim * elementBytes(trace)];
      const asks = text("story-cache.query_asks");
      const choices = ["next", "all", "nobody"].map((name) => text(`story-cache.query_${name}`));
      return {
        form: formOf(trace) === "_latent" ? "_latent" : "",
        guess: { asks, choices, right: 2, of: trace.prompt },
        words: {
          word: bold(named(text, labelsOf(tokens.pieces), T - 1)),
          heads: String(model.n_heads),
          more: bytesTold(more),
          each: bytesTold(each),
          part: bold(shareSaid(text, more / each)),
        },
        value: `layer ${layer} head ${head} query ${T - 1} more ${more} each ${each} first=${exact(shown.weights[0])}`,
        select: { layer, head, query: T - 1 },
      };
    },
  };
}

/** The last tokens and their weights: the same as long as they are. */
const shownOf = kept((/** @type {ArrayLike<number>} */ weights, /** @type {string[]} */ pieces) => ({
  words: pieces.slice(-MOST).map(onEdge),
  weights: Array.from(weights).slice(0, pieces.length).slice(-MOST),
}));
