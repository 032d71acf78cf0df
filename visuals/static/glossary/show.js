// Leads to the panel on which this run shows a term, and marks it until the reader does something.

import { hold } from "../scroll-anchor.js";
import { panelOf, partsOf } from "../panel-parts.js";
import { leadTo } from "../panels/glance/words.js";
import { termOf } from "./terms.js";

const [WHOLE, PART] = ["is-meant", "is-meant-part"];
/** @type {(() => void) | null} takes the last marks off */
let end = null;

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} name of a term
 */
export async function showTerm(glass, name) {
  const term = termOf(name);
  if (!term) return;
  const { chapter, panel, part, set } = term;
  end?.();
  set?.(glass);
  await leadTo(glass, chapter, panel);
  glass.repaint();
  const section = panelOf(panel);
  if (!section) return; // its chapter did not open
  /** @type {HTMLElement | null} it may have to be drawn first */
  let inside = null;
  const look = () => {
    if (inside || !part) return;
    const [found] = partsOf(section, [part]);
    if (!found) return;
    inside = found;
    found.classList.add(PART);
    hold(() => {
      section.scrollIntoView({ block: "start", behavior: "instant" });
      found.scrollIntoView({ block: "nearest", behavior: "instant" });
    });
  };
  section.classList.add(WHOLE);
  look();
  const stops = [glass.on("painted", look), glass.on("chapter", () => end?.())];
  const events = ["pointerdown", "keydown"];
  const done = () => {
    end = null;
    for (const stop of stops) stop();
    section.classList.remove(WHOLE);
    inside?.classList.remove(PART);
  };
  end = done;
  setTimeout(() => {
    for (const event of events)
      addEventListener(
        event,
        () => {
          if (end === done) done();
        },
        { capture: true, once: true },
      );
  });
}
