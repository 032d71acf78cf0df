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

/** @returns {import("./lesson.js").Known} */
function knownOf({ chapters, texts }) {
  const panels = new Set(Object.values(chapters).flatMap(({ panels: kinds }) => kinds));
  return { panels: [...panels], languages: Object.keys(texts) };
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
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  let received = null; // the one of a link
  let at = null; // { pane, id }: what is shown
  const { element: status, tell, complain } = createStatus(text);
  const shipped = createShipped(glass, known, tell);
  const pane = h("div.ls-pane");
  const { element: dialog, title, show } = createDialog({ name: "ls-title", look: ".ls-desk" }, status, pane);
  const dock = createDock(text, {
    add: async () =>
      (await addView(glass, draftOf(desk, at.id), kindsInView(pressed())[0])) || status.firstElementChild.textContent,
    open: () => open(),
  });
  const language = () => glass.state.language;
  dialog.addEventListener("close", () => dock.offer(at?.pane === "edit" ? shelf.get(at.id) : null));

  function start(lesson, how) {
    dialog.close();
    present(lesson, how);
  }
  const keeping = createKeeping(shelf, known, { text, language, tell, complain, go });
  const present = createPresenter(glass, () => open({ pane: "list" }), keeping.putOwn);
  const desk = {
    shelf,
    tell,
    complain,
    ...keeping,
    start,
    text,
    pressed,
    go,
    close: () => dialog.close(),
    received: () => received,
    shipped: shipped.now,
  };
  const panes = { list: createList(glass, desk), edit: createEditor(glass, desk), share: createShare(glass, desk) };

  /**
   * Shows one of the panes.
   *
   * @param {{ pane: string; id?: string; lesson?: object }} to
   */
  function go(to) {
    at = to;
    const { name, elements } = panes[to.pane](to);
    title.textContent = name;
    pane.replaceChildren(...elements);
    glass.translate(dialog);
  }

  /**
   * Where a lesson was being edited, there.
   *
   * @param {{ pane: string }} [to]
   */
  async function open(to = at?.pane === "edit" && shelf.get(at.id) ? at : { pane: "list" }) {
    tell("");
    dock.hide();
    await shipped.fetch();
    go(to);
    show(glass.translate);
  }
  /** Presents the lesson of a link, for whoever reads it alone with its notes; the list has it, too. */
  async function receive(hash) {
    at = null;
    let trouble = null;
    received = await unpackLesson(hash, known).catch((error) => {
      trouble = error;
      return null;
    });
    if (received?.views.length) return present(received, { notes: true });
    await open();
    if (trouble) complain(trouble);
    return undefined;
  }
  function resume({ lesson, ...how }) {
    try {
      present(checkLesson(lesson, known), how);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      keepPresented(null); // what another version of the page has kept
    }
  }
  addEventListener("storage", () => {
    if (dialog.open && at?.pane === "list") go(at);
  });
  glass.on("language", () => {
    if (dialog.open) go(at);
  });
  return { open, receive, resume };
}
