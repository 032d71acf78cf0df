// The fold of a chapter: one sentence that says what its panels on demand are for, and opens them. A panel that lies
// folded is not on the page: it is not fetched, not drawn, and asks the server nothing.

import { h } from "./dom.js";
import { remembered } from "./remembered.js";

/**
 * @typedef {Record<string, Record<string, string>>} Settings by panel and name
 *
 * @typedef {{ panels: readonly string[]; onDemand: readonly string[] }} Chapter
 */

/** Settings that are kept under another name than their panel's, as the address writes them; none named: all. */
const SET_AS = /** @type {Record<string, Record<string, string[]>>} */ ({
  "norm-scale": { norm: ["scale", "shift", "flip"] },
  "rope-scaling": { rope: ["factor", "method", "reach"] },
  "ffn-tokens": { ffn: ["view"] },
  "kv-chart": { kvchart: [] },
  "kv-fit": { kvfit: [] },
  "family-parameters": { families: ["model"] },
});

/**
 * Whether these settings are some of a panel's own.
 *
 * @param {string} kind
 * @param {Settings} settings
 */
const isSet = (kind, settings) =>
  Object.entries(SET_AS[kind] ?? { [kind]: [] }).some(([panel, names]) => {
    const given = Object.keys(settings[panel] ?? {});
    return names.length ? names.some((name) => given.includes(name)) : given.length > 0;
  });

/**
 * The panel that an address leads to: the one that it names, else the first of those on demand that it sets; null
 * where there is none.
 *
 * @param {{ panel?: string; settings: Settings }} link
 * @param {Chapter} chapter
 */
export const panelOfLink = ({ panel = "", settings }, { panels, onDemand }) =>
  panels.includes(panel) ? panel : (onDemand.find((kind) => isSet(kind, settings)) ?? null);

/** The chapters whose fold this reader left open. */
function createMemory() {
  const kept = remembered("glass.folds");
  const list = () => (kept.get() ?? "").split(" ").filter(Boolean);
  return {
    has: (/** @type {string} */ chapter) => list().includes(chapter),
    /** @type {(chapter: string, open: boolean) => void} */
    keep(chapter, open) {
      const others = list().filter((one) => one !== chapter);
      kept.set([...others, ...(open ? [chapter] : [])].join(" "));
    },
  };
}

/**
 * @param {import("./types.d.ts").Store} store
 * @param {Pick<import("./types.d.ts").Settings, "get" | "set">} settings
 * @param {import("./types.d.ts").Texts} texts
 * @param {Record<string, Chapter>} chapters
 */
export function createFolds(store, settings, texts, chapters) {
  const { state } = store;
  const memory = createMemory();
  const element = h("button.page-fold", { "aria-expanded": "false", click: () => press() });

  /** @param {string} chapter */
  const isOpen = (chapter) => settings.get("fold")[chapter] === "open" || memory.has(chapter);
  /** @type {(chapter: string, open: boolean) => void} */
  const set = (chapter, open) => settings.set("fold", { ...settings.get("fold"), [chapter]: open ? "open" : "" });

  function press() {
    const { chapter } = state;
    const open = !isOpen(chapter);
    memory.keep(chapter, open);
    set(chapter, open);
  }
  return {
    element,
    /**
     * Whether a panel lies folded in a chapter.
     *
     * @param {string} chapter
     * @param {string} kind
     */
    hides: (chapter, kind) => Boolean(chapters[chapter]?.onDemand.includes(kind)) && !isOpen(chapter),
    /**
     * Opens a chapter's fold because the page leads into it, which is no choice to be remembered.
     *
     * @param {string} chapter
     */
    open: (chapter) => set(chapter, true),
    /**
     * Says what lies in the fold of a chapter; without one, and where a panel is shown `alone`, there is none.
     *
     * @param {string} chapter
     * @param {boolean} alone
     */
    show(chapter, alone) {
      element.hidden = alone || !chapters[chapter]?.onDemand.length;
      if (element.hidden) return;
      element.dataset.text = `fold.${chapter}`;
      element.textContent = texts.text(element.dataset.text);
      element.setAttribute("aria-expanded", String(isOpen(chapter)));
    },
  };
}
