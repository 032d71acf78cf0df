// The answers about GPUs: one GPU's memory as a bar, the largest batch and context, the bound, and a table of GPUs.

import { h, shown } from "../../dom.js";
import { createTable } from "../../marks/table.js";
import { notesOf } from "./answer.js";
import { both, exactBytes, remarkIn, scaled, titled, weightName, whole } from "./format.js";
import { troubleText } from "./trouble.js";

const percentOf = (part, all) => `${(100 * Number(part)) / Number(all)}%`;

/** @param {import("../../types.d.ts").Glass} glass */
export function fitView(glass) {
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const element = h("div.kv-answer");

  /** The fullest GPU from 0 to its memory; where it does not fit, the bar is as long as what it would need. */
  function bar({ gpu, percent, usable, weights, cache, free, fits }) {
    const taken = Number(weights) + Number(cache);
    const scale = Math.max(Number(gpu.memory), taken);
    const piece = (name, bytes) =>
      h(`span.kv-piece.is-${name}`, {
        style: `width: ${percentOf(bytes, scale)}`,
        title: `${text(name)}: ${exactBytes(Math.round(bytes))}`,
      });
    const pieces = [piece("weights", weights), piece("cache", cache)];
    if (fits) pieces.push(piece("room", Number(free)), piece("reserve", Number(gpu.memory) - Number(usable)));
    const edge = h("span.kv-edge", { style: `left: ${percentOf(usable, scale)}` });
    const key = (name) => h("span.gp-sample", null, h(`span.kv-dot.is-${name}`), text(name));
    const said = {
      weights: scaled(weights, "binary"),
      cache: scaled(cache, "binary"),
      usable: scaled(usable, "binary"),
      percent,
      memory: scaled(gpu.memory, "decimal"),
    };
    return [
      h("div.kv-memory", null, ...pieces, edge),
      h("div.gp-samples", null, ...["weights", "cache", "room", "reserve"].map(key)),
      h("p.gp-note", null, text("bar", said)),
    ];
  }

  function verdict({ fits, free }) {
    const words = fits ? text("fits") : text("lacks", { bytes: both(-Number(free)) });
    return h(
      "p.kv-total.kv-fits",
      null,
      h("strong", null, words),
      ...(fits ? [h("span", null, ` ${text("free", { bytes: both(free) })}`)] : []),
    );
  }

  /** How a config.json says that the weights are stored, or why that is not counted, and what they are counted in. */
  const stored = ({ stored: notes, weights_in: format }) =>
    notes.map((one) =>
      h("p.gp-note.kv-stored", null, remarkIn(one, glass.state.language), " ", text("counted_in", { format })),
    );

  function largest(found, title, unit) {
    if (found.refused)
      return h("div.kv-fact", null, h("h4", null, title), h("p.gp-note", null, troubleText(glass, found.refused)));
    const value = found.unlimited
      ? text("no_limit")
      : found.value
        ? text(unit, { count: whole(found.value) })
        : text("none_fits");
    const beyond = unit === "tokens" && found.max_context && found.value > found.max_context;
    const notes = [
      found.next && text("next", { bytes: exactBytes(found.next) }),
      beyond && text("trained", { max_context: whole(found.max_context) }),
    ];
    return h(
      "div.kv-fact",
      null,
      h("h4", null, title),
      h("p.kv-kind-size", null, h("strong", null, value)),
      ...notes.filter(Boolean).map((note) => h("p.gp-note", null, note)),
    );
  }

  function bound(found, batch) {
    const title = h("h4", null, text("bound_title"));
    if (found.refused) return h("div.kv-fact", null, title, h("p.gp-note", null, text("bound_none")));
    const rate = (value) => (value >= 1000 ? whole(Math.round(value)) : shown(value, 3));
    const how = {
      weights: scaled(found.weights, "decimal"),
      cache: scaled(found.cache, "decimal"),
      micro: whole(found.micro_batches),
      ranks: found.ranks,
      bandwidth: `${scaled(found.bandwidth, "decimal")}/s`,
      ms: shown(found.milliseconds, 3),
      steps: rate(found.each),
    };
    const spread =
      found.spread_milliseconds > found.milliseconds
        ? [
            h(
              "p.gp-note",
              null,
              text("spread", {
                weights: scaled(found.spread_weights, "decimal"),
                ms: shown(found.spread_milliseconds, 3),
              }),
            ),
          ]
        : [];
    const notes = [text(found.micro_batches > 1 ? "bound_stages" : "bound_how", how), text("bound_drafts")].map(
      (note) => h("p.gp-note", null, note),
    );
    const all = batch > 1 ? [h("p", null, text("bound_all", { rate: rate(found.all), batch: whole(batch) }))] : [];
    return h(
      "div.kv-fact",
      null,
      title,
      h("p.kv-kind-size", null, h("strong", null, text("bound_each", { rate: rate(found.each) }))),
      ...all,
      notes[0],
      ...spread,
      notes[1],
    );
  }

  let opened = false; // the list of the weights, by the reader
  function weights({ weight_terms, all_weights }) {
    const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
    const rows = weight_terms.map(({ label, factors, bytes }) =>
      titled(weightName(glass.text, label), factors, factor, bytes),
    );
    return h(
      "details.kv-source",
      opened ? { open: "" } : null,
      h("summary", null, text("weights_sum", { bytes: exactBytes(all_weights), both: both(all_weights) })),
      ...rows,
    );
  }
  element.addEventListener(
    "toggle",
    (event) => {
      opened = /** @type {HTMLDetailsElement} */ (event.target).open;
    },
    true,
  );

  function show({ use, batch, context, bound: found }, { tokens, batch: sequences }) {
    element.replaceChildren(
      verdict(use),
      ...stored(use),
      ...bar(use),
      h(
        "div.kv-facts",
        null,
        largest(batch, text("largest_batch", { tokens: whole(tokens) }), "sequences"),
        largest(context, text("largest_context", { batch: whole(sequences) }), "tokens"),
        bound(found, sequences),
      ),
      weights(use),
      h("p.gp-note", null, text("source", { source: remarkIn(use.gpu.source, glass.state.language) })),
    );
  }
  return { element, show };
}

/** @param {import("../../types.d.ts").Glass} glass */
export function needsView(glass) {
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  const element = h("div.kv-answer");
  const table = createTable(null, [
    ["gpu", "th.gp-token"],
    ["at_least", "td"],
    ["found", "td"],
    ["one_server", "td"],
  ]);

  const layout = (found) => (found ? text(found.dcp > 1 ? "layout_dcp" : "layout", found) : text("beyond"));

  function show({ users, tokens, weights, cache, total, gpus, notes }) {
    table.entitle(text);
    table.body.replaceChildren(
      ...gpus.map(({ name, own, at_least, layout: found, one_server }) =>
        table.line([
          own ? text("own_gpu") : name,
          whole(at_least),
          layout(found),
          one_server ? String(one_server) : "—",
        ]),
      ),
    );
    element.replaceChildren(
      h("h3.gp-subtitle", null, text("reverse_title", { users: whole(users), tokens: whole(tokens) })),
      h(
        "p",
        null,
        text("reverse_sum", { weights: scaled(weights, "binary"), cache: scaled(cache, "binary"), total: both(total) }),
      ),
      h("div.kv-scroll", null, table.element),
      ...notesOf(glass, notes),
    );
  }
  return { element, show };
}
