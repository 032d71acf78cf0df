// Why it is this word: who looks back at which token, what is left without them, and what else the answer would miss.

import { exact, h } from "../../dom.js";
import { isChanged, takenBack } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { createHow } from "./how.js";
import { partsTable, rankingOf } from "./ranking.js";
import { reasonsOf } from "./reasons.js";
import { readersOff, selectLook } from "./words.js";

/** @typedef {import("../../types.d.ts").Glass} Glass */

/**
 * The circuit below the answer, which is fetched once it is asked for.
 *
 * @param {Glass} glass
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
function createCircuitPlace(glass, moment) {
  const element = h("div.wy-circuit", { "data-part": "circuit" });
  const view = reactive({ circuit: null }, glass.repaint); // what is drawn of it, once it has come
  let asked = false;
  async function fetchCircuit() {
    if (asked) return;
    asked = true;
    const { createCircuit } = await import("./circuit.js");
    const made = createCircuit(glass, element, moment);
    glass.translate(element);
    view.circuit = made;
  }
  function draw(found) {
    fetchCircuit();
    view.circuit?.draw(found);
  }
  return { element, draw };
}

/**
 * What is said of an answer, and the ranking of what it would miss.
 *
 * @param {Glass} glass
 */
function createReasons(glass) {
  const { state } = glass;
  const text = (name, params) => glass.text(`why.${name}`, params);
  const said = h("div.wy-said", { "aria-live": "polite" });
  const proof = h("div.wy-proof", { "aria-live": "polite" });
  const off = h("button.gp-option.gp-holds", {
    click: () => glass.change(isChanged(state.trace) ? {} : readersOff(shown.look)),
  });
  const parts = h("ol.wy-parts");
  const list = h(
    "details.wy-list",
    null,
    h("summary", { "data-text": "why.parts" }),
    h("p.gp-note", { "data-text": "why.parts_means" }),
    parts,
  );
  const tour = h("button.gp-option", { "data-tour": "word", "data-text": "tour.start" });
  const actions = h("p.wy-actions", null, tour, " ", off);
  let shown = null; // the answer that the button switches off

  const draw = memo((found, _language, changed) => {
    shown = found;
    const measuring = { says: [h("p.gp-note", null, text("measuring"))], proves: [] };
    const { says, proves } = found ? reasonsOf(glass, found) : measuring;
    said.replaceChildren(...says);
    proof.replaceChildren(...proves);
    if (!found) return;
    const count = found.look.heads.length;
    parts.replaceChildren(...rankingOf(glass, found));
    off.textContent = text(changed ? `back_${takenBack(state.trace)}` : "switch_off", { count });
    off.hidden = !changed && !count;
  });
  return { said, proof, actions, list, draw };
}

/**
 * For data-value: which token the answer is read at, and what is left without the heads that read it.
 *
 * @param {import("../../messages.d.ts").WhyDetail | null} found
 */
function tell(found) {
  if (!found) return "";
  const { kind, key, heads, without } = found.look;
  return ` ${kind === "cross" ? "source" : "key"} ${key} heads ${heads.length} without=${exact(without)}`;
}

/**
 * @param {Glass} glass
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
export function createAnswer(glass, moment) {
  const { state } = glass;
  const reasons = createReasons(glass);
  const how = createHow(glass);
  const circuit = createCircuitPlace(glass, moment);
  const twoTexts = h("p.gp-note", { hidden: "", "data-text": "why.two_texts" });
  const { said, proof, actions, list } = reasons;
  const element = h(
    "div.wy-answer",
    { hidden: "" },
    said,
    how.element,
    proof,
    actions,
    list,
    circuit.element,
    twoTexts,
  );
  /** @type {import("../../messages.d.ts").WhyDetail | null} the answer that is shown */
  let shown = null;
  let leading = false; // the selection is to go where the answer leads

  function draw(open, found) {
    element.hidden = !open;
    if (!open) return;
    shown = found;
    reasons.draw(found, state.language, isChanged(state.trace));
    how.draw(found?.first, found?.position);
    if (found && leading) follow();
    twoTexts.hidden = !state.trace.encoder;
    circuit.draw(found);
  }

  /** To the head that reads the answer, at the token that it looks at. */
  function follow() {
    leading = false;
    const { first, position } = shown;
    if (first) queueMicrotask(() => selectLook(glass, first, position, glass.selectByPage));
  }

  return {
    element,
    draw,
    table: () => partsTable(shown?.parts ?? []),
    tell,
    lead: () => {
      leading = true;
    },
  };
}
