// Leads to the panel on which this run shows a term, and marks it until the reader does something.

import { hold } from "../scroll-anchor.js";
import { panelOf, partsOf } from "../panel-parts.js";
import { leadTo } from "../panels/glance/words.js";
import { termOf } from "./terms.js";

const [WHOLE, PART] = ["is-meant", "is-meant-part"];
let end = null; // takes the last marks off

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {string} name of a term
 */
export async function showTerm(glass, name) {
  const { chapter, panel, part, set } = termOf(name);
  end?.();
  set?.(glass);
  await leadTo(glass, chapter, panel);
  glass.repaint();
  const section = panelOf(panel);
  let inside = null; // it may have to be drawn first
  const look = () => {
    if (inside || !part) return;
    [inside = null] = partsOf(section, [part]);
    if (!inside) return;
    inside.classList.add(PART);
    hold(() => {
      section.scrollIntoView({ block: "start", behavior: "instant" });
      inside.scrollIntoView({ block: "nearest", behavior: "instant" });
    });
  };
  section.classList.add(WHOLE);
  look();
  const stops = [glass.on("painted", look), glass.on("chapter", () => end?.())];
  const events = ["pointerdown", "keydown"];
  end = () => {
    end = null;
    for (const stop of stops) stop();
    for (const event of events) removeEventListener(event, end, true);
    section.classList.remove(WHOLE);
    inside?.classList.remove(PART);
  };
  const done = end;
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
