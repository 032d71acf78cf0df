// Under what was written: a word of it that was clicked, what else was offered then, and the way to why it is that one.

import { shareSaid } from "../../counts.js";
import { h } from "../../dom.js";
import { choiceOf, momentOf, offeredOf } from "../../chosen-step.js";
import { apart, askedWhy, word } from "./words.js";
import { glossOf } from "../../gloss.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";

const OTHERS = 4;

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }} for the chapters that have no panel on why in view
 */
export function createChosen(glass) {
  const state = shownIn(glass);
  const said = h("span");
  const why = h("button.page-close", { click: lead });
  const element = h("div.page-chosen", { hidden: "" }, said, " ", why);

  function lead() {
    glass.settings.set("why", { ...glass.settings.get("why"), open: "1" });
    glass.open("glance");
    document.querySelector("section[data-kind=why]")?.scrollIntoView({ block: "center" });
  }
  /** @type {(...key: unknown[]) => void} */
  const write = memo(() => {
    const choice = choiceOf(glass, state.trace, momentOf(state), OTHERS);
    if (!choice) return; // what it was chosen from has not come
    const { own, others } = choice;
    const chance = (/** @type {number} */ p) => shareSaid(glass.text, p);
    const [, ...names] = apart(
      glass.text,
      [own, ...others].map(({ piece }) => piece),
    );
    const gloss = glossOf(glass);
    const { model } = state.trace;
    /** @type {(token: typeof own, name: string) => [name: string, meaning: string]} */
    const named = ({ id, piece }, name) =>
      model.eos_ids.includes(id) ? [glass.text("story.the_end"), ""] : [name, gloss(piece)];
    const rest = others.map((one, i) => `${named(one, names[i]).join("")} ${chance(one.probability)}`).join(" · ");
    const [name, meaning] = named(own, word(own.piece));
    said.replaceChildren(
      h("b", null, name),
      meaning,
      ` ${chance(own.probability)} · ${glass.text("why.others")} ${rest}`,
    );
    why.textContent = askedWhy(glass.text, model, own);
  });
  function draw() {
    const moment = state.trace && momentOf(state);
    const offered =
      moment?.token && state.status !== "generating" && state.chapter !== "glance" ? offeredOf(glass, moment) : null;
    element.hidden = !offered;
    if (offered) write(offered, moment?.token?.position, state.language, glossOf(glass));
  }
  return { element, draw };
}
