// The dialog that says what the real LLaMA is, and how to get it.

import { createDialog } from "./dialog.js";
import { h } from "./dom.js";
import { createGetting } from "./getting.js";

/** @param {import("./types.d.ts").Glass} glass */
export function createRealDialog(glass) {
  const getting = createGetting(glass, () => glass.state.run?.prompt ?? "");
  const { element, show } = createDialog(
    { name: "real-title", title: "real.title" },
    h("p", { "data-text": "real.about" }),
    getting.element,
  );
  const draw = () => element.open && getting.draw();
  glass.on("painted", draw);
  glass.on("run", () => element.close());
  return {
    show() {
      glass.real.look();
      show(glass.translate);
      getting.draw();
    },
  };
}
