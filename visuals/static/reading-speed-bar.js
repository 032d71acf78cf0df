// How what is written is shown: its speed, a pause, one token more. Beside the text; Space and the full stop do the
// same.

import { segmented } from "./controls.js";
import { h } from "./dom.js";
import { setSpeed, speedOf, SPEEDS } from "./reading-speed.js";

const OWN = [
  "input, textarea, select, button, a, summary, label, canvas, [contenteditable]",
  "[role=listbox], [role=slider], [role=radiogroup], [role=application], dialog",
].join(", ");

/**
 * What a key does to a text that is being written; null where it belongs to what has the focus.
 *
 * @param {KeyboardEvent} event
 */
export function wayOf({ key, target, ctrlKey, metaKey, altKey, defaultPrevented }) {
  const element = /** @type {Element | null} */ (target);
  if (defaultPrevented || ctrlKey || metaKey || altKey || element?.closest?.(OWN)) return null;
  return { " ": "toggle", ".": "next" }[key] ?? null;
}

/**
 * @param {Pick<import("./types.d.ts").Pace, "now" | "hold" | "goOn" | "next">} pace
 * @param {import("./types.d.ts").Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createPaceBar(pace, { settings, text }) {
  const toggle = () => (pace.now() === "writing" ? pace.hold() : pace.goOn());
  const hold = h("button.page-close.page-hold", { click: toggle });
  const next = h("button.page-close.page-next", {
    "data-text": "pace.next",
    "data-text-title": "pace.next_title",
    click: () => pace.next(),
  });
  const speeds = segmented(SPEEDS, {
    label: "pace.speed",
    title: (speed) => `pace.speed_${speed}`,
    sign: (speed) => (speed === "all" ? "max" : speed),
    look: "page-close",
    group: "span.page-speeds",
    named: "speed",
    choose: (speed) => setSpeed(settings, speed),
  });
  const element = h(
    "div.page-pace",
    null,
    hold,
    next,
    h("span.page-speed", { "data-text": "pace.speed", "aria-hidden": "true" }),
    speeds.element,
  );
  addEventListener("keydown", (event) => {
    const way = pace.now() === "none" ? null : wayOf(event);
    if (!way) return;
    event.preventDefault();
    if (way === "next") pace.next();
    else toggle();
  });

  function draw() {
    const now = pace.now();
    hold.disabled = next.disabled = now === "none";
    hold.textContent = text(now === "held" ? "pace.go_on" : "pace.hold");
    speeds.mark(speedOf(settings));
  }
  return { element, draw };
}
