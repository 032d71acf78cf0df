// The chapters of the page: which panels are in view, in which order, and fetching a chapter's styles when it is first
// opened. The stories stand among them as such that show no panel.

import { h } from "./dom.js";
import { panelOfLink } from "./folds.js";
import { isStory, keptLevel, STORY } from "./level.js";
import { chapterForms } from "./parts.js";
import { hold } from "./scroll-anchor.js";

/**
 * @param {string} place a selector
 * @returns {NodeListOf<HTMLElement>}
 */
const panelsIn = (place) => document.querySelectorAll(`${place} .glass-panel`);

/**
 * @typedef {Pick<import("./messages.d.ts").PageConfig, "chapters" | "homes">} Config the chapters in order, the
 *   first shown first, and in which one's folder each panel's module is
 *
 * @typedef {import("./types.d.ts").Store} Store
 */

/**
 * Fetches a chapter's styles when it is first opened.
 *
 * @param {Config["chapters"]} chapters
 */
function createStyles(chapters) {
  /** @type {Set<string>} */
  const styled = new Set();
  return (/** @type {string} */ name) => {
    const { style } = chapters[name];
    if (!style || styled.has(style)) return;
    styled.add(style);
    document.head.append(h("link", { rel: "stylesheet", href: style }));
  };
}

/**
 * Of the window: a chapter that begins lower down is scrolled to, or its button would seem to do nothing. On a
 * telephone the tokens alone take half of what is seen.
 */
const [LOW, LOW_NARROW] = [0.8, 0.3];
const NARROW = "(max-width: 560px)";
/** The chapters on what every layer has: the row of chapters frames them, as a small map of the model. */
const IN_EVERY_LAYER = ["norm", "position", "attend", "ffn", "kv"];

/**
 * Scrolls a row that is wider than its room to one of its buttons.
 *
 * @param {HTMLElement} row
 * @param {HTMLElement} button
 */
export function scrollRowTo(row, button) {
  if (row.scrollWidth <= row.clientWidth) return;
  const [room, place] = [row.getBoundingClientRect(), button.getBoundingClientRect()];
  row.scrollLeft += place.left + place.width / 2 - room.left - room.width / 2;
}

/**
 * The row of buttons that open the chapters, which is a small map of the model: in the middle what every layer has,
 * before it what makes tokens of a text, after it what comes out.
 *
 * @param {string[]} names
 * @param {import("./types.d.ts").Texts} texts
 * @param {(name: string) => void} go opens a chapter
 */
function createRow(names, texts, go) {
  /** @type {HTMLElement | null} */
  let row = null;
  const times = h("span.page-times", { "aria-hidden": "true" });
  const block = h("div.page-block", { role: "group", "data-text-label": "chapter.block" });
  const button = (/** @type {string} */ name) =>
    h("button", { "data-chapter": name, "data-text": `chapter.${name}`, click: () => go(name) });
  /** Where a row is wider than its room, the open chapter is seen in it. */
  function showMarked() {
    /** @type {HTMLElement | null | undefined} */
    const marked = row?.querySelector("[aria-current]");
    if (row && marked) scrollRowTo(row, marked);
  }
  return {
    /** @param {HTMLElement} place */
    attach(place) {
      row = h("div.page-tabs");
      place.append(row);
      for (const name of names) {
        const inside = IN_EVERY_LAYER.includes(name);
        if (inside && !block.isConnected) row.append(block);
        (inside ? block : row).append(button(name));
      }
      block.append(times);
      texts.translate(row);
    },
    /** @param {string} open */
    mark(open) {
      for (const one of /** @type {HTMLElement[]} */ ([...(row?.querySelectorAll("button") ?? [])])) {
        if (one.dataset.chapter === open) one.setAttribute("aria-current", "page");
        else one.removeAttribute("aria-current");
      }
      showMarked();
    },
    /**
     * Calls the chapters on norm, position and feed-forward by what the network that is shown has there.
     *
     * @param {import("./decode.js").Trace} trace
     */
    speak({ model }) {
      if (!row) return;
      times.textContent = `× ${model.n_layers}`;
      for (const [name, form] of Object.entries(chapterForms(model))) {
        /** @type {HTMLElement | null} */
        const button = row.querySelector(`[data-chapter="${name}"]`);
        if (button) button.dataset.text = `chapter.${name}${form && `_${form}`}`;
      }
      texts.translate(row);
      showMarked();
    },
    /**
     * To where a chapter begins, from far down in another, and where it would begin below what is seen; what the
     * first begins with stands above the row.
     *
     * @param {string} open
     */
    toTop(open) {
      const panels = document.querySelector(".page-grid");
      if (!row || !panels) return;
      const { top } = panels.getBoundingClientRect();
      const low = innerHeight * (matchMedia(NARROW).matches ? LOW_NARROW : LOW);
      const begin = () => panels.scrollIntoView({ block: "start", behavior: "instant" });
      if (top < row.getBoundingClientRect().bottom) begin();
      else if (top > low && open !== names[0])
        hold(begin, panels); // until its panels have grown, there is no way down
      else row.scrollIntoView({ block: "nearest" });
    },
  };
}

/**
 * Puts a chapter's panels into its order, which is that of the Tab key, too, and the fold before those on demand.
 *
 * @param {Config["chapters"][string]} chapter
 * @param {HTMLElement} fold
 */
function arrange({ panels, onDemand }, fold) {
  const grid = document.querySelector(".page-grid");
  if (!grid) return;
  const sections = new Map([...panelsIn(".page-grid")].map((one) => [one.dataset.kind ?? "", one]));
  const main = panels.filter((kind) => !onDemand.includes(kind));
  const wanted = [...main, null, ...onDemand].flatMap((kind) => (kind ? (sections.get(kind) ?? []) : fold));
  const now = [...grid.children].filter((one) => wanted.includes(/** @type {HTMLElement} */ (one)));
  if (wanted.some((one, i) => one !== now[i])) grid.append(...wanted);
}

/**
 * @param {Store} store
 * @param {import("./types.d.ts").Texts} texts
 * @param {ReturnType<typeof import("./folds.js").createFolds>} folds
 * @param {string | undefined} wanted the chapter of the link
 * @param {Config} config
 */
export function createChapters(store, texts, folds, wanted, { chapters, homes }) {
  const { state } = store;
  const names = Object.keys(chapters);
  const known = (/** @type {string | undefined} */ name) => isStory(name ?? "") || names.includes(name ?? "");
  /** What opens where an address names no chapter: what the reader chose last, the story else. */
  const usual = () => (keptLevel().get() === "workbench" ? names[0] : STORY);
  state.chapter = wanted !== undefined && known(wanted) ? wanted : usual();
  /** @type {string | null} */
  let alone = null; // the one panel that is presented
  const fetchStyle = createStyles(chapters);
  const row = createRow(names, texts, go);

  /**
   * The panels of the open chapter; none of the story.
   *
   * @returns {readonly string[]}
   */
  const panelsNow = () => (isStory(state.chapter) ? [] : chapters[state.chapter].panels);

  /**
   * Whether a panel is in view now: of the open chapter, and not folded. What no chapter lists (the token strip)
   * is, wherever there are panels.
   *
   * @param {string | undefined} kind
   */
  const shows = (kind = "") =>
    !isStory(state.chapter) &&
    ((alone ? kind === alone : panelsNow().includes(kind) && !folds.hides(state.chapter, kind)) ||
      !names.some((name) => chapters[name].panels.includes(kind)));

  /**
   * Resolves when this panel is in view: its chapter open, and its fold where it lies in one.
   *
   * @param {string} kind
   * @returns {Promise<void>}
   */
  const opened = (kind) =>
    new Promise((done) => {
      const look = () => (shows(kind) ? (stops.forEach((stop) => stop()), done()) : undefined);
      const stops = [store.on("chapter", look), store.on("fold", look)];
      look();
    });

  /** Puts the panels of the open chapter in view, and marks its button. */
  function show() {
    const { chapter } = state;
    if (!isStory(chapter)) fetchStyle(chapter);
    document.body.dataset.chapter = chapter;
    for (const section of panelsIn(".page-body")) section.classList.toggle("page-away", !shows(section.dataset.kind));
    folds.show(chapter, alone !== null);
    if (!isStory(chapter)) arrange(chapters[chapter], folds.element);
    row.mark(chapter);
  }

  /** @param {string} name one of the chapters, or the story; others are ignored */
  function open(name) {
    if (!known(name)) return;
    const moved = name !== state.chapter && !isStory(name) && !isStory(state.chapter);
    state.chapter = name;
    store.endPreview(); // of the chapter before: its panels ask nothing while the pointer previews
    show();
    store.emit("chapter", name);
    if (moved) queueMicrotask(() => row.toTop(name)); // once the token strip has seen whether it sticks in this chapter
    store.repaint(true);
  }

  store.on("settings", (name) => {
    if (name !== "fold") return;
    show();
    store.emit("fold");
    store.repaint(true);
  });
  /**
   * Opens the fold of the open chapter where this panel lies in it.
   *
   * @param {string} kind
   * @returns {boolean} whether it did
   */
  function reveal(kind) {
    const hidden = folds.hides(state.chapter, kind);
    if (hidden) folds.open(state.chapter);
    return hidden;
  }

  /**
   * Opens a chapter for its button; what the first begins with stands above the row of buttons.
   *
   * @param {string} name
   */
  function go(name) {
    open(name);
    if (name === names[0])
      document.querySelector(`section[data-kind="${chapters[name].panels[0]}"]`)?.scrollIntoView({ block: "nearest" });
  }

  return {
    open,
    reveal,
    /**
     * Reveals the panel that an address leads to.
     *
     * @param {Parameters<typeof panelOfLink>[0]} link
     * @returns {string | null} its kind, where it is to be scrolled to: the address names it, or it lay folded
     */
    meet(link) {
      const kind = isStory(state.chapter) ? null : panelOfLink(link, chapters[state.chapter]);
      return kind && (reveal(kind) || kind === link.panel) ? kind : null;
    },
    usual,
    opened,
    shows,
    /**
     * Shows one panel of the open chapter alone, beside what no chapter lists; null: all again.
     *
     * @param {string | null} kind
     */
    present(kind) {
      alone = kind;
      show();
      store.emit("chapter", state.chapter);
      store.repaint(true);
    },
    /**
     * Fills the row of chapters and puts the panels of the open one in view.
     *
     * @param {HTMLElement} place
     */
    attach(place) {
      row.attach(place);
      store.on("run", row.speak);
      show();
    },
    /**
     * Where a panel's module is beside the page's script.
     *
     * @param {string} kind
     */
    pathOf: (kind) => `panels/${homes[kind]}/${kind}.js`,
  };
}
