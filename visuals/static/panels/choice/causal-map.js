// Where the answer lives: the residual stream of one layer and token taken from a run of another text, and what that
// loses. Of a network with an encoder there are two maps, the decoder's above that of the encoder, which has a place of
// its own.

import { exact, h, shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { momentOf } from "../../chosen-step.js";
import { isChanged } from "../../off.js";
import { looksAtSource, noChoice } from "../../parts.js";
import { inView, widthOf } from "../../pointing.js";
import { memo, reactive } from "../../reads.js";
import { chooseText, otherText, swapButtons, word } from "../glance/words.js";

/**
 * Of each depth the token where most is lost.
 *
 * @param {{ shape: number[]; data: Float32Array }} left
 * @returns {number[]}
 */
export function homesOf({ shape: [depths, tokens], data }) {
  return Array.from({ length: depths }, (_, depth) => {
    const row = data.subarray(depth * tokens, (depth + 1) * tokens);
    return row.indexOf(Math.min(...row));
  });
}

/**
 * The first depth at which half of the difference or more is lost somewhere: what the answer needs is there from
 * then on.
 *
 * @param {{ shape: number[]; data: Float32Array }} left
 */
export function arrivalOf({ shape: [depths, tokens], data }) {
  const lost = Array.from(
    { length: depths },
    (_, depth) => 1 - Math.min(...data.subarray(depth * tokens, (depth + 1) * tokens)),
  );
  const depth = lost.findIndex((most) => most >= 0.5);
  return { depth, before: depth > 0 ? Math.max(...lost.slice(0, depth)) : null, after: lost[depth] };
}

const percent = (x) => `${shown(100 * x, 3)} %`;

export const about = {
  tensors: ["resid_in", "logits"],
  absent: noChoice,
  forms: (model) => (looksAtSource(model) ? ["source"] : []),
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function causalMap(element, glass) {
  const { state } = glass;
  let found = null;
  /**
   * The encoder's place that is pointed at, and the one that was chosen.
   *
   * @type {{ under: object | null; kept: object | null }}
   */
  const view = reactive({ under: null, kept: null }, glass.repaint);
  const rowsOf = ({ shape: [, tokens], data }, ...named) =>
    Array.from(data, (x, i) => [...named, Math.floor(i / tokens), i % tokens, x]);
  const table = () => {
    if (!found) return [];
    const names = ["depth", "token", "share_left"];
    if (!found.source_left) return [names, ...rowsOf(found.left)];
    return [["stack", ...names], ...rowsOf(found.left, "decoder"), ...rowsOf(found.source_left, "encoder")];
  };
  const panel = frame(element, glass, "causal-map", { csv: table, parts: ["what", "formula", "myth"] });
  const say = h("p.wy-notice");
  const offers = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const named = (row, layers) => panel.text(row === layers ? "final" : "depth", { layer: row });
  /** @type {Pick<import("../../marks/depth.js").What, "scale">} */
  const shared = {
    scale: () => ({
      table: "magnitude",
      place: (x) => Math.max(0, Math.min(1, x)),
      ticks: [
        [0, "0"],
        [0.5, "50 %"],
        [1, "100 %"],
      ],
      name: panel.text("scale"),
    }),
  };
  const map = createDepthMap(glass, {
    ...shared,
    label: "causal-map.map",
    values: ({ details: { causal } }) => Float64Array.from(causal.left.data, (x) => 1 - x),
    name: (row) => named(row, state.trace.model.n_layers),
    pieces: ({ trace, details: { causal } }) => trace.tokens.pieces.slice(0, causal.left.shape[1]),
    at: ({ layer, query }) => ({ row: layer, token: Math.min(query, found.left.shape[1] - 1) }),
    pick: ({ row, token }) => ({ layer: Math.min(row, state.trace.model.n_layers - 1), query: token }),
  });
  const step = (rows, tokens) => () => {
    const [depths, count] = found.source_left.shape;
    const { row, token } = sourcePlace();
    view.kept = {
      row: Math.max(0, Math.min(depths - 1, row + rows)),
      token: Math.max(0, Math.min(count - 1, token + tokens)),
    };
    return {};
  };
  const sourceMap = createDepthMap(glass, {
    ...shared,
    label: "causal-map.map_encoder",
    values: ({ details: { causal } }) => Float64Array.from(causal.source_left.data, (x) => 1 - x),
    name: (row, { trace }) => named(row, trace.encoder.model.n_layers),
    pieces: ({ trace }) => trace.encoder.tokens.pieces,
    at: () => sourcePlace(),
    pick: () => ({}),
    hover: (place) => {
      view.under = place;
    },
    keep: (place) => {
      view.kept = place;
    },
    moves: { ArrowLeft: step(0, -1), ArrowRight: step(0, 1), ArrowUp: step(1, 0), ArrowDown: step(-1, 0) },
  });
  const heads = ["decoder", "encoder"].map((stack) => h("h3.gp-subtitle", { "data-text": `why.stack_${stack}` }));
  panel.body.append(say, offers, heads[0], map.element, heads[1], sourceMap.element);
  const wide = widthOf(map.element, glass);

  /** The place of the encoder's map that is read; where none was chosen, that of the word that was changed. */
  function sourcePlace() {
    const [depths, tokens] = found.source_left.shape;
    const { row, token } = view.under ?? view.kept ?? { row: 0, token: homesOf(found.source_left)[0] };
    return { row: Math.min(row, depths - 1), token: Math.min(token, tokens - 1) };
  }

  const offer = memo((words) =>
    offers.replaceChildren(...swapButtons(glass, words ?? { swaps: [], text: "" }, choose)),
  );
  const choose = (other) => chooseText(glass, other, momentOf(state).at);

  /** The text to compare with: the one chosen on the first screen, else the first that is offered. */
  function otherOf(at) {
    const words = glass.detail("words", { token: at });
    const chosen = words && words.tokens <= words.map_limit ? otherText(glass, at) || words.swaps[0]?.text : "";
    offer(words, state.language);
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (offers.children))
      button.setAttribute("aria-pressed", String(button.dataset.swap === chosen));
    return {
      chosen,
      none:
        words &&
        !chosen &&
        glass.text(
          words.tokens <= words.map_limit ? "why.no_swaps" : state.trace.encoder ? "why.too_long_two" : "why.too_long",
          { limit: words.map_limit },
        ),
    };
  }

  /** In words: where most is lost at the bottom and at the top, and at which depth that changes. */
  function notice(pieces, left) {
    const tokens = left.shape[1];
    const homes = homesOf(left);
    const last = homes.length - 1;
    const moves = homes.lastIndexOf(homes[0]);
    const lost = (depth) => percent(1 - left.data[depth * tokens + homes[depth]]);
    const params = {
      first: word(pieces[homes[0]]),
      last: word(pieces[homes[last]]),
      moves,
      after: moves + 1,
      lost: lost(moves),
      lost_last: lost(Math.min(last, moves + 1)),
      answer: word(found.answer),
      other: word(found.other),
    };
    return panel.text(moves === last ? "notice_stays" : "notice", params);
  }
  /** Of two texts: how it stands in the source, and in which layer the decoder has it. */
  function noticeOfTwo({ encoder, tokens: { pieces } }) {
    const { depth, before, after } = arrivalOf(found.left);
    const home = homesOf(found.left)[depth];
    const place =
      home === 0 ? glass.text("why.from_start") : glass.text("why.from_token", { piece: word(pieces[home]) });
    const comes = panel.text("notice_decoder", {
      layer: depth - 1,
      before: percent(before),
      after: percent(after),
      place,
    });
    return glass
      .text("why.sentences", { one: notice(encoder.tokens.pieces, found.source_left), two: comes, three: "" })
      .trim();
  }

  /**
   * What is lost at a place of a map, for a program and in words.
   *
   * @param {string} name
   * @param {import("../../decoded.d.ts").NumArray} left
   * @param {string[]} pieces
   * @param {{ row: number; token: number }} place
   */
  function readOf(name, { shape: [depths, tokens], data }, pieces, { row, token }) {
    const [depth, t] = [Math.min(row, depths - 1), Math.min(token, tokens - 1)];
    const left = data[depth * tokens + t];
    return {
      value: `depth ${depth} token ${t} left=${exact(left)}`,
      words: panel.text(name, { layer: depth, piece: word(pieces[t]), lost: percent(1 - left) }),
    };
  }

  return inView(element, function draw(fresh) {
    const { trace, layer, query } = state;
    const { at } = momentOf(state);
    panel.title.textContent = panel.text("title");
    const { chosen, none } = isChanged(trace) ? {} : otherOf(at);
    found = chosen ? glass.detail("causal_map", { token: at, text: chosen }) : null;
    element.toggleAttribute("data-loading", Boolean(chosen) && !found);
    const two = Boolean(found?.source_left);
    map.element.hidden = !found;
    for (const one of [sourceMap.element, ...heads]) one.hidden = !two;
    offers.hidden = isChanged(trace);
    const width = wide();
    if (!found) {
      say.textContent = isChanged(trace) ? glass.text("why.changed") : none || panel.text("waiting");
      return panel.tell("nothing", "");
    }
    const { pieces } = trace.tokens;
    say.textContent = two ? noticeOfTwo(trace) : notice(pieces, found.left);
    const shownRun = [{ trace, details: { causal: found } }];
    if (width) map.draw(shownRun, width, fresh);
    if (width && two) sourceMap.draw(shownRun, width, fresh);
    const own = readOf(two ? "read_decoder" : "read", found.left, pieces, { row: layer, token: query });
    if (!two) return panel.tell(own.value, own.words);
    const source = readOf("read_encoder", found.source_left, trace.encoder.tokens.pieces, sourcePlace());
    return panel.tell(`${own.value} source ${source.value}`, `${own.words} · ${source.words}`);
  });
}
