// The dialog about lessons: a list of them, one being edited, or one (or the view that is shown) being handed out.

import { createDialog } from "../dialog.js";
import { h } from "../dom.js";
import { createEditor } from "./edit.js";
import { checkLesson, MOST, newLesson, readLesson, Refused } from "./lesson.js";
import { createList } from "./list.js";
import { unpackLesson } from "./pack.js";
import { createPresenter } from "./present.js";
import { keepPresented } from "./resume.js";
import { createShare } from "./share.js";
import { browserStorage, createShelf } from "./shelf.js";

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
  const { chapters, lessons: shipped, texts } = window.glassConfig;
  const known = {
    panels: [...new Set(Object.values(chapters).flatMap(({ panels }) => panels))],
    languages: Object.keys(texts),
  };
  const shelf = createShelf(browserStorage(), known);
  const present = createPresenter(glass, () => open({ pane: "list" }));
  const text = (name, params) => glass.text(`lessons.${name}`, params);
  let own = null; // the lessons of the page, by language
  let received = null; // the one of a link
  let at = null; // { pane, id }: what is shown
  let undo = null;

  const said = h("span");
  const undoing = h("button.ls-button", {
    "data-text": "lessons.undo",
    click: () => {
      const act = undo;
      tell("");
      act?.();
    },
  });
  const status = h("p.ls-said", { role: "status" }, said, " ", undoing);
  const pane = h("div.ls-pane");
  const { element: dialog, title, show } = createDialog({ name: "ls-title", look: ".ls-desk" }, status, pane);
  // While a lesson is being made, the way back to it from wherever the reader has scrolled to.
  const further = h("button.ls-button.is-first.ls-further", { hidden: "", click: () => open() });
  dialog.addEventListener("close", () => {
    const lesson = at?.pane === "edit" ? shelf.get(at.id) : null;
    further.hidden = !lesson;
    further.textContent = lesson ? text("further", { title: lesson.title }) : "";
    if (!further.isConnected) document.body.append(further);
  });

  /**
   * Says something; with `back`, offers to take it back.
   *
   * @param {string} words
   * @param {() => void} [back]
   */
  function tell(words, back = null) {
    said.textContent = words;
    undo = back;
    undoing.hidden = !back;
    status.hidden = !words;
  }
  const complain = (error) => {
    if (!(error instanceof Refused)) throw error;
    const { code, params } = error;
    tell(
      text(
        `bad_${code}`,
        params.expected ? { ...params, expected: text(`expected_${params.expected}`, params) } : params,
      ),
    );
  };

  /** Keeps a lesson; where that fails the reader hears of it, and it stays here until the page is closed. */
  function put(id, lesson) {
    try {
      shelf.put(id, lesson);
      return true;
    } catch (error) {
      complain(error);
      return false;
    }
  }
  function adopt(lesson) {
    const id = shelf.fresh();
    tell("");
    put(id, lesson);
    go({ pane: "edit", id });
  }
  const begin = () => adopt(newLesson(text("untitled"), glass.state.language));
  async function read(file) {
    try {
      if (file.size > MOST.bytes) throw new Refused("size", { size: file.size, most: MOST.bytes });
      adopt(readLesson(await file.text(), known));
    } catch (error) {
      complain(error);
    }
  }
  function remove(id) {
    const lesson = shelf.get(id);
    shelf.remove(id);
    go({ pane: "list" });
    if (lesson)
      tell(text("removed", { title: lesson.title }), () => {
        put(id, lesson);
        go({ pane: "list" });
      });
  }
  function start(lesson, how) {
    dialog.close();
    present(lesson, how);
  }
  const desk = {
    shelf,
    tell,
    complain,
    put,
    adopt,
    begin,
    read,
    remove,
    start,
    text,
    pressed,
    go,
    close: () => dialog.close(),
    received: () => received,
    shipped: () => own?.[glass.state.language] ?? [],
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

  /** The lessons that come with the page; none where the server does not answer. */
  async function fetchOwn() {
    const language = glass.state.language;
    own ??= {};
    own[language] ??= await Promise.all(
      shipped[language].map(async (address) => checkLesson(await (await fetch(address)).json(), known)),
    ).catch(() => {
      tell(glass.text("message.no_connection"));
      return undefined;
    });
  }

  /**
   * Where a lesson was being edited, there.
   *
   * @param {{ pane: string }} [to]
   */
  async function open(to = at?.pane === "edit" && shelf.get(at.id) ? at : { pane: "list" }) {
    tell("");
    further.hidden = true;
    await fetchOwn();
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
