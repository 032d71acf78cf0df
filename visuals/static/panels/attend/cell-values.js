// What the selected cell is made of, from the run's q, k and v. No drawing.

import { biasAt, rotatedPair, row } from "../../compute.js";
import { share, shown } from "../../dom.js";
import { valueNorms } from "./values.js";

const SINK = 0.3; // from this weight on key 0 is explained as a sink

/** Everything about the selected cell that needs no request. */
export function cellOf({ trace, head, query, key }, held) {
  const { model } = trace;
  const [q, k] = rotatedPair(held, model, { head, query, key });
  const terms = q.map((x, i) => x * k[i]);
  const { scores, weights, top, total } = row(held, model, head, query);
  return {
    q,
    k,
    terms,
    dot: terms.reduce((sum, x) => sum + x, 0),
    score: scores[key],
    bias: biasAt(model, head, query - key),
    weight: weights[key],
    weights,
    top,
    total,
    width: model.head_dim,
    head,
    query,
    key,
    tokens: trace.T,
  };
}

/** The selected row, all of it. @returns {(string|number)[][]} */
export function rowTable(glass) {
  const { trace, layer, head, query } = glass.state;
  const held = glass.layer();
  const values = glass.detail("values", { layer });
  const norms = values && valueNorms(values, trace.model, head);
  const lines = [["layer", "head", "query", "key", "piece", "score", "weight", "value_norm", "weight_times_value_norm"]];
  if (!held) return lines;
  const { scores, weights } = row(held, trace.model, head, query);
  weights.forEach((weight, key) => {
    const carried = norms ? [norms[key], weight * norms[key]] : ["", ""];
    lines.push([layer, head, query, key, trace.tokens.pieces[key], scores[key], weight, ...carried]);
  });
  return lines;
}

/** Where the first token takes much of the row: that it does, and whether its value is small, as measured here. */
export function sinkText(weights, values, { trace, head, query }, text) {
  if (query < 2 || weights[0] < SINK) return "";
  const said = text("sink", { weight: share(weights[0]), head });
  if (!values) return said;
  const norms = valueNorms(values, trace.model, head);
  const others = norms.slice(1).reduce((sum, x) => sum + x, 0) / (norms.length - 1);
  const kind = norms[0] < others / 2 ? "sink_small" : "sink_constant";
  return `${said} ${text(kind, { norm: shown(norms[0], 3), others: shown(others, 3) })}`;
}
