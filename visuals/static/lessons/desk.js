// The dialog about lessons: a list of them, one being edited, or one (or the view that is shown) being handed out.

import { createDialog } from "../dialog.js";
import { h } from "../dom.js";
import { kindsInView } from "./capture.js";
import { createDock } from "./dock.js";
import { addView, createEditor, draftOf } from "./edit.js";
import { createKeeping } from "./keeping.js";
import { checkLesson, Refused } from "./lesson.js";
import { createList } from "./list.js";
import { unpackLesson } from "./pack.js";
import { createPresenter } from "./present.js";
import { keepPresented } from "./resume.js";
import { createShare } from "./share.js";
import { browserStorage, createShelf } from "./shelf.js";
import { createShipped } from "./shipped.js";
import { createStatus } from "./status.js";

/**
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {{ pane: "list" }
 *   | { pane: "edit"; id: string; focus?: [number, string] | null }
 *   | { pane: "share"; id?: string; lesson?: Lesson }} To
 *   one of the dialog's panes: `focus` at a control of a view; `lesson`: undefined, the view that is shown
 *
 * @typedef {{ name: string; elements: HTMLElement[] }} Pane
 *
 * @typedef {ReturnType<typeof createKeeping> & {
 *   shelf: ReturnType<typeof createShelf>;
 *   tell: (words: string, back?: (() => void) | null) => void;
 *   complain: (error: unknown) => void;
 *   start: (lesson: Lesson, how?: import("./present.js").How) => void;
 *   text: import("../types.d.ts").Say;
 *   pressed: () => Element | null;
 *   go: (to: To) => void;
 *   close: () => void;
 *   received: () => Lesson | null;
 *   shipped: () => Lesson[];
 * }} Desk
 *   what the panes do with: `tell` and `complain` say something; `start` presents a lesson; `text`: of the lessons;
 *   `pressed`: the panel that the reader last used; `go` shows another pane; `received`: the lesson of a link;
 *   `shipped`: those that come with the page
 */

/**
 * @param {import("../messages.d.ts").PageConfig} config
 * @returns {import("./lesson.js").Known}
 */
function knownOf({ chapters, texts }) {
  const panels = new Set(Object.values(chapters).flatMap(({ panels: kinds }) => kinds));
  return { panels: [...panels], languages: Object.keys(texts) };
}

/**
 * The lesson of an address, or what is wrong with it.
 *
 * @param {string} hash
 * @param {import("./lesson.js").Known} known
 * @returns {Promise<{ lesson: Lesson | null; trouble: unknown }>}
 */
const unpacked = (hash, known) =>
  unpackLesson(hash, known).then(
    (lesson) => ({ lesson, trouble: null }),
    (trouble) => ({ lesson: null, trouble }),
  );

/**
 * Gives the keyboard's focus to a pane whose control it was at is gone: to its field, where no keyboard comes up on
 * the screen with that, else to where it begins.
 *
 * @param {HTMLElement} pane
 * @param {HTMLElement} title
 */
function giveKeys(pane, title) {
  /** @type {HTMLElement | null} */
  const field = matchMedia("(pointer: coarse)").matches ? null : pane.querySelector(".ls-name");
  title.tabIndex = -1;
  (field ?? title).focus({ preventScroll: true });
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {() => Element | null} pressed the panel that the reader last used
 * @returns {{
 *   open: () => void;
 *   receive: (hash: string) => Promise<void>;
 *   resume: (what: import("./resume.js").Presented) => void;
 * }}
 */
export function createDesk(glass, pressed) {
  const known = knownOf(window.glassConfig);
  const shelf = createShelf(browserStorage(), known);
  /** @type {import("../types.d.ts").Say} */
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  /** @type {Lesson | null} the one of a link */
  let received = null;
  /** @type {To | null} what is shown */
  let at = null;
  const { element: status, tell, complain, said } = createStatus(text);
  const shipped = createShipped(glass, known, tell);
  const pane = h("div.ls-pane");
  const { element: dialog, title, show } = createDialog({ name: "ls-title", look: ".ls-desk" }, status, pane);
  /** The lesson that is being edited; null where none is, and where another tab has removed it meanwhile. */
  const edited = () => (at?.pane === "edit" ? draftOf(desk, at.id) : null);
  /** Adds what is shown to it; gives what is to be said of that. */
  async function add() {
    const draft = edited();
    if (draft) return (await addView(glass, draft, kindsInView(pressed())[0])) || said();
    await open();
    return "";
  }
  const dock = createDock(text, { add, open: () => open() });
  const language = () => glass.state.language;
  dialog.addEventListener("close", () => dock.offer(edited()?.lesson() ?? null));

  const keeping = createKeeping(shelf, known, { text, language, tell, complain, go });
  const present = createPresenter(glass, () => open({ pane: "list" }), keeping.putOwn);
  /** @type {Desk} */
  const desk = {
    shelf,
    tell,
    complain,
    ...keeping,
    start(lesson, how) {
      dialog.close();
      present(lesson, how);
    },
    text,
    pressed,
    go,
    close: () => dialog.close(),
    received: () => received,
    shipped: shipped.now,
  };
  const panes = { list: createList(glass, desk), edit: createEditor(glass, desk), share: createShare(glass, desk) };

  /** @type {(to: To) => void} */
  function go(to) {
    const draft = to.pane === "edit" ? draftOf(desk, to.id) : null;
    at = to.pane === "edit" && !draft ? { pane: "list" } : to;
    const { name, elements } =
      at.pane === "share" ? panes.share(at) : at.pane === "edit" && draft ? panes.edit(at, draft) : panes.list();
    title.textContent = name;
    pane.replaceChildren(...elements);
    glass.translate(dialog);
    if (dialog.open && !dialog.contains(document.activeElement)) giveKeys(pane, title);
  }

  /** Where a lesson was being edited, there. @param {To} [to] */
  async function open(to = (edited() && at) || { pane: "list" }) {
    tell("");
    dock.hide();
    await shipped.fetch();
    go(to);
    show(glass.translate);
    if (at?.pane === "edit") giveKeys(pane, title);
  }
  /**
   * Presents the lesson of a link, for whoever reads it alone with its notes; the list has it, too.
   *
   * @param {string} hash
   */
  async function receive(hash) {
    at = null;
    const { lesson, trouble } = await unpacked(hash, known);
    received = lesson;
    if (lesson?.views.length) return present(lesson, { notes: true });
    await open();
    if (trouble) complain(trouble);
    return undefined;
  }
  /** @param {import("./resume.js").Presented} what */
  function resume({ lesson, ...how }) {
    try {
      present(checkLesson(lesson, known), how);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      keepPresented(null); // what another version of the page has kept
    }
  }
  const goAgain = () => dialog.open && at && go(at);
  addEventListener("storage", () => at?.pane === "list" && goAgain());
  glass.on("language", goAgain);
  return { open, receive, resume };
}
