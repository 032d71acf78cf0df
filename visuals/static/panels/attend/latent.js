// MLA: the latent that is kept of a token, what a head rebuilds from it, and one score in both forms.

import { dot } from "../../arrays.js";
import { rotatedPair } from "../../compute.js";
import { exact, h, line, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { elementBytes } from "../kv/live-state.js";

const KIND = "latent";

/**
 * @typedef {import("../../decoded.d.ts").NumArray} Rows
 *
 * @typedef {import("../../decoded.d.ts").Detail<"latent">} Latent (visuals/latent.py), a row a token each
 */

/**
 * One token's row of an array.
 *
 * @param {Rows} rows
 */
export const rowOf = ({ shape: [, width], data }, token) => data.subarray(token * width, (token + 1) * width);

/**
 * A head's score of a key, expanded and absorbed.
 *
 * @param {Latent} found
 * @param {import("../../decode.js").Layer} held
 * @param {object} model
 * @returns {{
 *   q: ArrayLike<number>;
 *   k: ArrayLike<number>;
 *   c: ArrayLike<number>;
 *   absorbed: ArrayLike<number>;
 *   turned: number;
 *   expanded: number;
 *   byLatent: number;
 *   score: number;
 *   absorbedScore: number;
 * }}
 *   `turned`: what the rotated channels add, the same in both; `expanded` q·k of the others, and `byLatent` the same
 *   as (W_UKᵀ q)·c
 */
export function scoreOf(found, held, model, head, query, key) {
  const {
    latent: { nope },
    scale,
  } = model.parts;
  const [q, k] = rotatedPair(held, model, { head, query, key });
  const [c, absorbed] = [rowOf(found.latent, key), rowOf(found.absorbed, query)];
  const turned = dot(q.subarray(nope), k.subarray(nope));
  const [expanded, byLatent] = [dot(q.subarray(0, nope), k.subarray(0, nope)), dot(absorbed, c)];
  return {
    q,
    k,
    c,
    absorbed,
    turned,
    expanded,
    byLatent,
    score: (expanded + turned) * scale,
    absorbedScore: (byLatent + turned) * scale,
  };
}

/**
 * Numbers that a layer keeps of a token, and what keys and values of all heads would take.
 *
 * @param {object} model
 * @returns {{ kept: number; expanded: number }}
 */
const keptOf = ({
  n_heads: heads,
  parts: {
    latent: { rank, nope, rope, value },
  },
}) => ({ kept: rank + rope, expanded: heads * (nope + rope + value) });

export const about = {
  only: ({ parts }) => parts.latent !== null,
  unused: "head",
  tensors: ["q_rot", "kv_latent", "k_rope", "k_rot", "v", "scores"],
};

/** The score in both forms, with its numbers. */
function arithmetic(found, { head_dim: width, parts: { latent, scale } }, text) {
  const { turned, expanded, byLatent, score, absorbedScore } = found;
  const times = ` · ${shown(scale, 5)}`;
  const product = () => ["q", sub("rope"), "·k", sub("rope")];
  const rest = shown(turned, 5);
  const rope = [...product(), " = ", rest];
  const query = () => [tinted("q", "q"), sub("nope")];
  const plain = [...query(), "·", tinted("k", "k"), sub("nope")];
  const inLatent = ["(W", sub("UK"), "ᵀ ", ...query(), ")·", tinted("k", "c")];
  return [
    line`${text("expanded")}`,
    line`(${plain} + ${product()})${times} = (${shown(expanded, 5)} + ${rest})${times} = ${strong(score)}`,
    line`${text("absorbed")}`,
    line`(${inLatent} + ${product()})${times} = (${shown(byLatent, 5)} + ${rest})${times} = ${strong(absorbedScore)}`,
    line`${rope}; ${text("scale", { width, rope: latent.rope, scale: shown(scale, 5) })}`,
  ];
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function latentPanel(element, glass) {
  const { state } = glass;
  let now = null;
  const csv = () => {
    if (!now) return [];
    const {
      found,
      score,
      at: { layer, head, query, key },
    } = now;
    const place = [layer, head, query, key];
    const vectors = {
      latent: score.c,
      absorbed_query: score.absorbed,
      q: score.q,
      k: score.k,
      value: rowOf(found.value, key),
    };
    const rows = Object.entries(vectors).flatMap(([name, values]) =>
      Array.from(values, (x, i) => [...place, name, i, x]),
    );
    return [["layer", "head", "query", "key", "vector", "index", "value"], ...rows];
  };
  const panel = frame(element, glass, KIND, { csv, parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const step = (name) => h("h3.gp-subtitle", { "data-text": `${KIND}.step_${name}` });
  const [canvas, rebuilt, values] = ["kept", "rebuilt", "value"].map((name) =>
    h("canvas.gp-canvas", { "data-part": name, "data-text-label": `${KIND}.step_${name}` }),
  );
  const [note, formula, bytes] = [h("p.gp-note"), h("div.gp-formula", { lang: "en" }), h("p.gp-note")];
  panel.body.append(
    note,
    step("kept"),
    canvas,
    step("rebuilt"),
    rebuilt,
    step("value"),
    values,
    step("score"),
    formula,
    step("bytes"),
    bytes,
  );
  const strips = [canvas, rebuilt, values].map((one) => createStrips(one));

  const write = memo((score, at, trace, _language) => {
    const { model, tokens } = trace;
    const { rank, rope } = model.parts.latent;
    const [queried, piece] = [at.query, at.key].map((t) => visible(tokens.pieces[t]));
    const { kept, expanded } = keptOf(model);
    const size = elementBytes(trace);
    panel.title.textContent = text("title", { ...at, piece });
    note.textContent = text("note", { ...at, queried, piece });
    formula.replaceChildren(...arithmetic(score, model, text));
    bytes.textContent = text("bytes", {
      rank,
      rope,
      kept,
      expanded,
      heads: model.n_heads,
      size,
      kept_bytes: kept * size,
      expanded_bytes: expanded * size,
      layers: model.n_layers,
      per_token: kept * size * model.n_layers,
      ratio: shown(expanded / kept, 3),
    });
    const place = `layer ${at.layer} head ${at.head} query ${at.query} key ${at.key}`;
    const scores = `score=${exact(score.score, 7)} absorbed=${exact(score.absorbedScore, 7)}`;
    panel.tell(
      `${place} ${scores} rope=${exact(score.turned)} kept=${kept} expanded=${expanded}`,
      text("read", { piece, head: at.head, score: shown(score.score, 5) }),
    );
  });

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { trace, layer, head, query, key } = state;
    const { model } = trace;
    const held = glass.layer();
    const found = glass.detail("latent", { layer, head });
    element.classList.toggle("is-coming", !found);
    if (!found || !held) return;
    const score = scoreOf(found, held, model, head, query, key);
    now = { found, score, at: { layer, head, query, key } };
    const { nope } = model.parts.latent;
    strips[0].draw(
      width,
      [
        { name: text("strip_latent"), role: "k", values: score.c },
        { name: text("strip_absorbed"), role: "q", values: score.absorbed },
      ],
      { chosen: null, lead: { values: score.c } },
    );
    strips[1].draw(
      width,
      [
        { name: text("strip_k", { head, nope }), role: "k", values: score.k },
        { name: text("strip_q", { head }), role: "q", values: score.q },
      ],
      { chosen: null, lead: { values: score.k } },
    );
    strips[2].draw(width, [{ name: text("strip_v", { head }), role: "v", values: rowOf(found.value, key) }], {
      chosen: null,
    });
    write(score, now.at, trace, state.language);
  });
}
