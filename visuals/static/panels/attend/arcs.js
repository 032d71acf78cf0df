// One query's attention as arcs over the text: from the token that looks to every token that it looks at. And walking
// through the tokens that the model wrote: for each, the row of attention that chose it.

import { row } from "../../compute.js";
import { stepper } from "../../controls.js";
import { exact, h, share } from "../../dom.js";
import { cellNames, visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createArcs, THICK } from "../../marks/arcs.js";
import { scoreForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { memo, reactive } from "../../reads.js";

export const about = { tensors: ["attention"], difference: "attend", unused: "head", forms: scoreForms };

const PACE = 800; // ms a token while it plays

/**
 * It stops playing when it is no longer seen.
 *
 * @param {import("../../types.d.ts").Glass} glass
 */
export function createWalk(glass) {
  const { state } = glass;
  const text = (name, params) => glass.text(`arcs.${name}`, params);
  const said = h("span.gp-note");
  const steps = stepper(
    (by) => {
      stop();
      move(by);
    },
    { label: "arcs.written", back: "arcs.earlier", on: "arcs.later", name: false },
  );
  const play = h("button.at-chip", { click: () => (walk.timer ? stop() : start()) });
  const element = h("div.at-bar", null, steps.element, play, said);
  const walk = reactive({ timer: 0 }, glass.repaint);

  /** The written token that the locked row chose: 0 for the first; less for a row inside the prompt. */
  const place = () => state.locked.query + 1 - state.trace.nPrompt;
  const count = () => state.trace.T - state.trace.nPrompt;

  function go(index) {
    const query = state.trace.nPrompt - 1 + Math.max(0, Math.min(count() - 1, index));
    glass.select({ query });
  }
  const move = (by) => go(place() + by);

  function stop() {
    clearInterval(walk.timer);
    walk.timer = 0;
  }

  function start() {
    if (place() < 0 || place() >= count() - 1) go(0);
    walk.timer = setInterval(() => {
      const going = element.getClientRects().length && state.chapter === "attend" && place() < count() - 1;
      if (going) move(1);
      else stop();
    }, PACE);
  }

  const draw = memo(() => {
    const { trace, locked } = state;
    const written = count();
    for (const one of [steps.element, play]) one.hidden = written === 0;
    play.textContent = text(walk.timer ? "pause" : "play");
    const index = place();
    const chosen = index >= 0 && index < written;
    steps.show(chosen ? `${index + 1} / ${written}` : `– / ${written}`, index <= 0, index >= written - 1);
    const piece = (t) => visible(trace.tokens.pieces[t]);
    if (trace.generating) said.textContent = text("writing");
    else if (!written) said.textContent = text("none_written");
    else if (chosen) said.textContent = text("chose", { from: piece(locked.query), piece: piece(locked.query + 1) });
    else said.textContent = text("walk");
  });
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function arcs(element, glass) {
  const { state } = glass;
  const drawn = createArcs(glass, "arcs.canvas");
  const panel = frame(element, glass, "arcs", { csv: () => table(), parts: ["what", "formula", "myth"] });
  const text = (name, params) => panel.text(name, params);
  const walk = createWalk(glass);
  const note = h("p.gp-note");
  const holder = h("div", null, drawn.element);
  panel.body.append(walk.element, holder, note);

  function table() {
    const { trace, layer, head, query } = state;
    const held = glass.layer();
    const weights = held ? [...row(held, trace.model, head, query).weights] : [];
    const lines = weights.map((weight, key) => [layer, head, query, key, trace.tokens.pieces[key], weight]);
    return [["layer", "head", "query", "key", "piece", "weight"], ...lines];
  }

  return inWidth(element, widthOf(holder, glass), function draw(width) {
    const { trace, layer, head, query, key } = state;
    const held = glass.layer();
    walk.draw();
    if (!held) return;
    const { weights } = row(held, trace.model, head, query);
    const { fits } = drawn.draw([{ trace, held }], width);
    const names = cellNames(state);
    panel.title.textContent = text("title", { layer, head, query, piece: names.query });
    note.textContent = [text("scale", { pixels: THICK }), fits ? "" : text("crowded")].join(" ");
    panel.tell(
      `layer ${layer} head ${head} query ${query} key ${key} weight=${exact(weights[key])}`,
      text("read", { ...names, weight: share(weights[key]), distance: query - key }),
    );
  });
}
