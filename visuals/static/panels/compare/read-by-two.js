// One sentence read by two networks: words, what a head of each reads, next tokens, and what each network costs.

import { topCandidates } from "../../compute.js";
import { linkRows, stepper } from "../../controls.js";
import { exact, h, share } from "../../dom.js";
import { ink, inkOn, shade, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { WEIGHTS } from "../../marks/scales.js";
import { changesOf } from "../../off.js";
import { createTable } from "../../marks/table.js";
import { effect, memo, reactive } from "../../reads.js";
import { createCosts, rowsOfCost } from "./costs.js";
import { headOf, reading, samePlace, textRead } from "./two.js";

const SIDES = ["A", "B"];
const NEXT = 5;

export const about = { tensors: ["attention", "logits"], sides: "both" };

/** One network's half: its words in the shade of what a head makes of them, and what it would write next. */
function createCard(side, glass, panel, step, point) {
  const { text } = panel;
  const [title, facts, caption] = [h("h3.cmp-head"), h("p.gp-note"), h("p.gp-note")];
  const words = h("div.rbt-words", { role: "group", "data-text-label": `read-by-two.words_${side}`, dir: "auto" });
  const steps = Object.fromEntries(
    ["layer", "head"].map((name) => [
      name,
      stepper((by) => step(side, name, by), {
        label: `read-by-two.${name}`,
        back: `read-by-two.${name}_back`,
        on: `read-by-two.${name}_on`,
      }),
    ]),
  );
  const next = createTable(
    "read-by-two",
    [
      ["token", "th.gp-token"],
      ["probability", "td.gp-number"],
    ],
    { rows: NEXT },
  );
  const element = h(
    "div.cmp-run",
    { "data-side": side },
    title,
    facts,
    h("div.cmp-row", null, steps.layer.element, steps.head.element),
    words,
    caption,
    next.element,
  );
  const own = { preview: point, focus: point, endPreview: () => point(null), select: point };
  linkRows(words, own, ({ dataset }) => ({ side, token: Number(dataset.token) }), ".rbt-word");
  words.addEventListener("focusout", () => point(null));

  const shadeWords = memo((trace, weights, query) => {
    // a row's weights stay the same array: a word keeps the focus
    const table = ink()[WEIGHTS.table];
    words.replaceChildren(
      ...textRead(trace).tokens.pieces.map((piece, token) => {
        const weight = weights?.[token]; // none after the query: the mask hides it
        const place = weight === undefined ? null : WEIGHTS.place(weight);
        const style = place === null ? undefined : `background: ${shade(table, place)}; color: ${inkOn(table, place)}`;
        return h(
          `span.rbt-word${token === query && !trace.encoder ? ".is-query" : ""}`,
          { tabindex: "0", "data-token": token, style },
          visible(piece),
        );
      }),
    );
  });
  const fillNext = memo((trace) => {
    const { rows } = topCandidates(trace.next, NEXT);
    next.fill(rows, (fields, { piece, probability }) => {
      [fields[0].textContent, fields[1].textContent] = [visible(piece), share(probability)];
    });
  });

  function draw({ trace, label, layer, head, query, found }) {
    title.textContent = text(`of_${side}`, { model: label });
    const size = trace.encoder
      ? text("facts_source", { source: trace.encoder.T, count: trace.T })
      : text("facts", { count: trace.T });
    // of a head that is off, what it would read
    facts.textContent = [size, changesOf(trace, glass.text)].filter(Boolean).join(" · ");
    const { n_layers: layers, n_heads: heads } = trace.model;
    steps.layer.show(text("of", { value: layer, last: layers - 1 }), layer === 0, layer === layers - 1);
    steps.head.show(text("of", { value: head, last: heads - 1 }), head === 0, head === heads - 1);
    caption.textContent = found
      ? text("most", {
          query: visible(trace.tokens.pieces[query]),
          key: visible(textRead(trace).tokens.pieces[found.most]),
          weight: share(found.weights[found.most]),
        })
      : text("coming");
    shadeWords(trace, found?.weights ?? null, query);
    fillNext(trace);
  }
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function readByTwo(element, glass) {
  const { state, settings } = glass;
  const pointed = reactive({ at: null });
  const panel = frame(element, glass, "read-by-two", { csv, parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const offers = h("div.cmp-row", { role: "group", "data-text-label": "read-by-two.by" });
  const hint = h("p.gp-note", { role: "status" });
  const point = (at) => {
    pointed.at = at;
    glass.repaint();
  };
  const cards = Object.fromEntries(SIDES.map((side) => [side, createCard(side, glass, panel, step, point)]));
  const costs = createCosts(glass, text);
  const both = h("div", null, h("div.cmp-runs", null, ...SIDES.map((side) => cards[side].element)), costs.element);
  panel.body.append(h("p.gp-note", { "data-text": "read-by-two.by" }), offers, hint, both);

  /** What is shown of both runs; null where there are not two. */
  function shown() {
    const shownOf = glass.sides();
    if (!shownOf) return null;
    const sides = { A: shownOf.A.whole ?? shownOf.A, B: shownOf.B.whole ?? shownOf.B }; // both choose
    const last = state.run === sides.A ? sides.A : sides.B; // whose token is selected
    // a text that is read, and one that is written: both stand at its end
    const two = SIDES.some((side) => sides[side].encoder);
    return SIDES.map((side) => {
      const trace = sides[side];
      const { layer, head } = headOf(settings.get("read-by-two")[side.toLowerCase()], state, trace.model);
      const query = trace === state.trace ? state.query : two ? trace.T - 1 : samePlace(last, trace, state.query);
      const held = glass.layerOf(trace, layer);
      return {
        side,
        trace,
        label: glass.modelName(trace.model.name),
        layer,
        head,
        query,
        found: held && reading(held, trace.model, head, query),
        cost: glass.detail("cost", {}, trace),
      };
    });
  }

  /** Another layer or head for one side; where that is the page's own selection again, the side follows it. */
  function step(side, name, by) {
    const now = shown().find((one) => one.side === side);
    const { layer, head } = headOf(
      `${now.layer + (name === "layer" ? by : 0)}.${now.head + (name === "head" ? by : 0)}`,
      state.locked,
      now.trace.model,
    );
    const own = headOf(undefined, state.locked, now.trace.model);
    const same = own.layer === layer && own.head === head;
    settings.set("read-by-two", {
      ...settings.get("read-by-two"),
      [side.toLowerCase()]: same ? "" : `${layer}.${head}`,
    });
  }

  function csv() {
    const lines = (shown() ?? []).flatMap(({ side, trace, layer, head, query, found, cost }) => [
      ...Array.from(found?.weights ?? [], (weight, key) => [
        "attention",
        side,
        trace.model.name,
        `layer ${layer} head ${head} query ${query}`,
        key,
        textRead(trace).tokens.pieces[key],
        weight,
      ]),
      ...topCandidates(trace.next, NEXT).rows.map(({ id, piece, probability }) => [
        "next",
        side,
        trace.model.name,
        "",
        id,
        piece,
        probability,
      ]),
      ...rowsOfCost(cost).map(([name, value]) => ["cost", side, trace.model.name, name, "", "", value]),
    ]);
    return [["what", "side", "model", "place", "index", "piece", "value"], ...lines];
  }

  /** Every other network, to read what is kept as A or, where nothing is, what is shown. */
  const drawOffers = memo((first, second) => {
    const others = glass.models().filter(({ name }) => name !== first);
    offers.replaceChildren(
      ...others.map(({ name, label }) =>
        h(
          "button.cmp-button",
          { "data-model": name, "aria-pressed": String(name === second), click: () => glass.readBy(name) },
          label,
        ),
      ),
    );
    offers.hidden = !others.length;
  });

  /** The value line: of the word under the pointer, else of what both would write next. */
  function tell(runs) {
    const { at } = pointed;
    const one = at && runs.find(({ side }) => side === at.side);
    if (one?.found && at.token < textRead(one.trace).T) {
      const weight = one.found.weights[at.token] ?? 0;
      const [query, key] = [one.trace.tokens.pieces[one.query], textRead(one.trace).tokens.pieces[at.token]].map(
        visible,
      );
      return panel.tell(
        `${at.side} layer ${one.layer} head ${one.head} query ${one.query} key ${at.token} weight=${exact(weight)}`,
        text("read_weight", { side: at.side, query, key, weight: share(weight) }),
      );
    }
    const best = runs.map(({ trace }) => topCandidates(trace.next, 1).rows[0]);
    const values = runs.map(({ side, cost }, i) => {
      const next = `next='${best[i].piece}' p=${exact(best[i].probability)}`;
      return `${side} ${next} read=${cost?.read ?? "?"} kept=${cost?.kept ?? "?"}`;
    });
    return panel.tell(
      values.join(" "),
      text("read", {
        a: `“${visible(best[0].piece)}” ${share(best[0].probability)}`,
        b: `“${visible(best[1].piece)}” ${share(best[1].probability)}`,
      }),
    );
  }

  return effect(function draw() {
    const runs = shown();
    const { kept, run: trace } = state;
    panel.title.textContent = text("title");
    drawOffers((kept ?? trace).model.name, runs?.[1].trace.model.name ?? null, state.language);
    both.hidden = !runs;
    const oneModel = runs && runs[0].trace.model.name === runs[1].trace.model.name;
    hint.textContent = !runs
      ? text(glass.models().length > 1 ? "empty" : "alone")
      : text(oneModel ? "one_model" : "not_subtracted");
    if (!runs) return panel.tell("", "");
    for (const one of runs) cards[one.side].draw(one);
    costs.draw(runs);
    return tell(runs);
  });
}
