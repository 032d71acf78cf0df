// A lesson that is being made, at the edge of the page while its dialog is closed: what is shown is added from there,
// and the reader stays where they are.

import { h } from "../dom.js";

/** @typedef {import("./lesson.js").Lesson} Lesson */

/**
 * @param {import("../types.d.ts").Say} text of the lessons
 * @param {{ add: () => Promise<string>; open: () => void }} acts `add` gives what is to be said of it
 */
export function createDock(text, { add, open }) {
  const said = h("span.ls-docked", { role: "status" });
  const adding = h("button.ls-button.is-first.ls-add-here", {
    click: async () => {
      said.textContent = await add();
    },
  });
  const further = h("button.ls-button.ls-further", { click: open });
  const away = h("button.ls-button.ls-away", { click: () => hide() }, "✕");
  const element = h("div.ls-dock", { hidden: "" }, said, adding, further, away);
  const hide = () => {
    element.hidden = true;
  };
  return {
    /** @param {Lesson | null} lesson */
    offer(lesson) {
      element.hidden = !lesson;
      if (!lesson) return;
      said.textContent = "";
      adding.textContent = text("further", { title: lesson.title });
      further.textContent = text("edit");
      away.setAttribute("aria-label", text("undock"));
      if (!element.isConnected) document.body.append(element);
    },
    hide,
  };
}
