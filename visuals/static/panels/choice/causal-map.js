// Where the answer lives: the residual stream of one layer and token taken from a run of another text, and what that loses.

import { exact, h, shown } from "../../dom.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { momentOf } from "../../moment.js";
import { isChanged } from "../../off.js";
import { oneText } from "../../parts.js";
import { inView, widthOf } from "../../pointing.js";
import { part } from "../../reads.js";
import { chooseText, otherText, swapButtons, word } from "../glance/words.js";

/** Of each depth the token where most is lost. @param {{ shape: number[], data: Float32Array }} left @returns {number[]} */
export function homesOf({ shape: [depths, tokens], data }) {
  return Array.from({ length: depths }, (_, depth) => {
    const row = data.subarray(depth * tokens, (depth + 1) * tokens);
    return row.indexOf(Math.min(...row));
  });
}

const percent = (x) => `${shown(100 * x, 3)} %`;

export const about = { tensors: ["resid_in", "logits"], absent: oneText };

/** @param {HTMLElement} element @param {object} glass */
export default function causalMap(element, glass) {
  const { state } = glass;
  let found = null;
  const table = () => {
    if (!found) return [];
    const tokens = found.left.shape[1];
    return [["depth", "token", "share_left"], ...Array.from(found.left.data, (x, i) => [Math.floor(i / tokens), i % tokens, x])];
  };
  const panel = frame(element, glass, "causal-map", { csv: table, parts: ["what", "formula", "myth"] });
  const say = h("p.wy-notice");
  const offers = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const map = createDepthMap(glass, {
    label: "causal-map.map",
    values: ({ details: { causal } }) => Float64Array.from(causal.left.data, (x) => 1 - x),
    scale: () => ({ table: "magnitude", place: (x) => Math.max(0, Math.min(1, x)), ticks: [[0, "0"], [0.5, "50 %"], [1, "100 %"]], name: panel.text("scale") }),
    name: (row) => panel.text(row === state.trace.model.n_layers ? "final" : "depth", { layer: row }),
    pieces: ({ trace, details: { causal } }) => trace.tokens.pieces.slice(0, causal.left.shape[1]),
    at: ({ layer, query }) => ({ row: layer, token: Math.min(query, found.left.shape[1] - 1) }),
    pick: ({ row, token }) => ({ layer: Math.min(row, state.trace.model.n_layers - 1), query: token }),
  });
  panel.body.append(say, offers, map.element);
  const wide = widthOf(map.element, glass);

  const offer = part((words) => offers.replaceChildren(...swapButtons(glass, words ?? { swaps: [], text: "" }, choose)));
  const choose = (other) => chooseText(glass, other, momentOf(state).at);

  /** The text to compare with: the one chosen on the first screen, else the first that is offered. */
  function otherOf(at) {
    const words = glass.detail("words", { token: at });
    const chosen = words && at < words.map_limit ? otherText(glass, at) || words.swaps[0]?.text : "";
    offer(words, state.language);
    for (const button of offers.children) button.setAttribute("aria-pressed", String(button.dataset.swap === chosen));
    return { chosen, none: words && !chosen && (at < words.map_limit ? glass.text("why.no_swaps") : glass.text("why.too_long", { limit: words.map_limit })) };
  }

  /** In words: where most is lost at the bottom and at the top, and at which depth that changes. */
  function notice(pieces) {
    const tokens = found.left.shape[1];
    const homes = homesOf(found.left);
    const last = homes.length - 1;
    const moves = homes.lastIndexOf(homes[0]);
    const lost = (depth) => percent(1 - found.left.data[depth * tokens + homes[depth]]);
    const params = { first: word(pieces[homes[0]]), last: word(pieces[homes[last]]), moves, after: moves + 1, lost: lost(moves), lost_last: lost(Math.min(last, moves + 1)), answer: word(found.answer), other: word(found.other) };
    return panel.text(moves === last ? "notice_stays" : "notice", params);
  }

  return inView(element, function draw(fresh) {
    const { trace, layer, query } = state;
    const { at } = momentOf(state);
    panel.title.textContent = panel.text("title");
    const { chosen, none } = isChanged(trace) ? {} : otherOf(at);
    found = chosen ? glass.detail("causal_map", { token: at, text: chosen }) : null;
    element.toggleAttribute("data-loading", Boolean(chosen) && !found);
    map.element.hidden = !found;
    offers.hidden = isChanged(trace);
    const width = wide();
    if (!found) {
      say.textContent = isChanged(trace) ? glass.text("why.changed") : none || panel.text("waiting");
      return panel.tell("nothing", "");
    }
    say.textContent = notice(trace.tokens.pieces);
    if (width) map.draw([{ trace, details: { causal: found } }], width, fresh);
    const tokens = found.left.shape[1];
    const [row, token] = [Math.min(layer, found.left.shape[0] - 1), Math.min(query, tokens - 1)];
    const left = found.left.data[row * tokens + token];
    return panel.tell(`depth ${row} token ${token} left=${exact(left)}`, panel.text("read", { layer: row, piece: word(trace.tokens.pieces[token]), lost: percent(1 - left) }));
  });
}
