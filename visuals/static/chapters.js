// The chapters of the page: which panels are in view, and fetching a chapter's styles when it is first opened.

import { h } from "./dom.js";
import { chapterForms } from "./parts.js";

/**
 * @param {string} place a selector
 * @returns {NodeListOf<HTMLElement>}
 */
const panelsIn = (place) => document.querySelectorAll(`${place} .glass-panel`);

/**
 * @param store
 * @param texts
 * @param {string | undefined} wanted the chapter of the link
 * @param {{
 *   chapters: Object<string, { panels: string[]; style: string | null }>;
 *   homes: Object<string, string>;
 * }} config
 *   the chapters in order, the first shown first, and in which one's folder each panel's module is
 */
export function createChapters(store, texts, wanted, { chapters, homes }) {
  const { state } = store;
  const names = Object.keys(chapters);
  state.chapter = names.includes(wanted) ? wanted : names[0];
  const styled = new Set();
  let alone = null; // the one panel that is presented
  let nav = null;

  /** Resolves when a chapter that shows this panel is open. */
  const opened = (kind) =>
    new Promise((done) => {
      const look = () => (shows(kind) ? (stop(), done()) : undefined);
      const stop = store.on("chapter", look);
      look();
    });

  /** Whether a panel is in view now; what no chapter lists (the token strip) always is. */
  const shows = (kind) =>
    (alone ? kind === alone : chapters[state.chapter].panels.includes(kind)) ||
    !names.some((name) => chapters[name].panels.includes(kind));

  /** Where a panel's module is, relative to this one. */
  const pathOf = (kind) => `./panels/${homes[kind]}/${kind}.js`;

  function fetchStyle() {
    const { style } = chapters[state.chapter];
    if (!style || styled.has(style)) return;
    styled.add(style);
    document.head.append(h("link", { rel: "stylesheet", href: style }));
  }

  /** @param {string} name one of the chapters; others are ignored */
  function open(name) {
    if (!names.includes(name)) return;
    const moved = name !== state.chapter;
    state.chapter = name;
    show();
    store.emit("chapter", name);
    if (moved) queueMicrotask(toTop); // once the token strip has seen whether it sticks in this chapter
    store.repaint(true);
  }

  /** From far down in another chapter to where this one begins. */
  function toTop() {
    const panels = document.querySelector(".page-grid");
    if (!nav || !panels) return;
    if (panels.getBoundingClientRect().top < nav.getBoundingClientRect().bottom)
      panels.scrollIntoView({ block: "start", behavior: "instant" });
    else nav.scrollIntoView({ block: "nearest" });
  }

  /**
   * Shows one panel of the open chapter alone, beside what no chapter lists; null: all again.
   *
   * @param {string | null} kind
   */
  function present(kind) {
    alone = kind;
    show();
    store.emit("chapter", state.chapter);
    store.repaint(true);
  }

  /** Puts the panels of the open chapter in view, in its order, and marks its button. */
  function show() {
    fetchStyle();
    document.body.dataset.chapter = state.chapter;
    const { panels } = chapters[state.chapter];
    for (const section of panelsIn(".page-body")) section.classList.toggle("page-away", !shows(section.dataset.kind));
    for (const section of panelsIn(".page-grid")) {
      section.style.order = state.chapter === names[0] ? "" : String(panels.indexOf(section.dataset.kind));
    }
    for (const button of nav?.children ?? []) {
      const current = button.dataset.chapter === state.chapter;
      if (current) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
  }

  /** Opens a chapter for its button; what the first begins with stands above the row of buttons. */
  function go(name) {
    open(name);
    if (name === names[0])
      document.querySelector(`section[data-kind="${chapters[name].panels[0]}"]`)?.scrollIntoView({ block: "nearest" });
  }

  /** Calls the chapters on norm, position and feed-forward by what the network that is shown has there. */
  function speak({ model }) {
    for (const [name, form] of Object.entries(chapterForms(model))) {
      const button = nav.querySelector(`[data-chapter="${name}"]`);
      if (button) button.dataset.text = `chapter.${name}${form && `_${form}`}`;
    }
    texts.translate(nav);
  }

  /**
   * Fills the row of chapters and puts the panels of the open one in view.
   *
   * @param {Element} row
   */
  function attach(row) {
    nav = row;
    for (const name of names) {
      nav.append(h("button", { "data-chapter": name, "data-text": `chapter.${name}`, click: () => go(name) }));
    }
    texts.translate(nav);
    store.on("run", speak);
    show();
  }

  return { open, present, attach, opened, shows, pathOf };
}
