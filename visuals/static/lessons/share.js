// A lesson, or the view that is shown, as a link and as a QR code of that link, which this page's own server draws.

import { copyButton } from "../controls.js";
import { h, svg } from "../dom.js";
import { LONGEST_LINK, packLesson } from "./pack.js";
import { saveLesson } from "./save.js";
import { wholeFile } from "./whole.js";

/** What a computer calls itself: to others that is an address of their own. */
const HERE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** @typedef {import("./lesson.js").Lesson} Lesson */

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./desk.js").Desk} desk
 */
export function createShare(glass, desk) {
  const { text } = desk;
  let turn = 0;

  /**
   * The code, dark on light in both themes, as cameras expect it.
   *
   * @param {Pick<import("../messages.d.ts").QrAnswer, "size" | "path">} code
   */
  const drawn = ({ size, path }) =>
    svg(
      "svg.ls-qr",
      { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": text("qr"), "shape-rendering": "crispEdges" },
      svg("rect", { width: size, height: size, fill: "#ffffff" }),
      svg("path", { d: path, fill: "#000000" }),
    );

  /**
   * @param {HTMLElement} box
   * @param {Lesson | undefined} lesson undefined: the view that is shown
   * @param {number} mine which call this is
   */
  async function fill(box, lesson, mine) {
    const hash = await (lesson ? packLesson(lesson) : glass.address());
    const link = `${location.origin}${location.pathname}${location.search}${hash}`;
    if (mine !== turn) return;
    if (link.length > LONGEST_LINK) {
      box.replaceChildren(
        h("p.ls-none", null, text(lesson ? "link_long" : "view_long", { characters: link.length, most: LONGEST_LINK })),
      );
      return;
    }
    const field = h("input.ls-link", {
      type: "text",
      readonly: "",
      value: link,
      "aria-label": text("link"),
      focus: () => field.select(),
    });
    const room = h("div.ls-room", null, h("p.ls-none", null, text("drawing")));
    const here = HERE.test(location.hostname) ? [h("p.ls-none", null, text("only_here"))] : [];
    box.replaceChildren(
      ...here,
      h(
        "div.ls-does",
        null,
        field,
        copyButton(
          "ls-button",
          (key) => glass.text(key),
          ["lessons.copy_link", "page.copied"],
          () => link,
        ),
      ),
      room,
    );
    glass.translate(box);
    const { data, message } = await glass.calculate("qr", { text: link });
    if (mine !== turn) return;
    const trouble = message ? glass.text(`message.${message.code}`, message.params) : "";
    room.replaceChildren(data ? drawn(data) : h("p.ls-none", null, trouble));
  }

  /**
   * @param {{ id?: string; lesson?: Lesson }} to
   * @returns {import("./desk.js").Pane}
   */
  return function share({ id, lesson }) {
    const box = h("div.ls-share", { "aria-live": "polite" });
    turn += 1;
    fill(box, lesson, turn).catch(() => box.replaceChildren(h("p.ls-none", null, text("no_link"))));
    return {
      name: lesson ? text("sharing", { title: lesson.title }) : text("share_view"),
      elements: [
        h("p.ls-none", null, text(lesson ? "sharing_means" : "view_means")),
        box,
        wholeFile(glass, lesson),
        h(
          "div.ls-does",
          null,
          h(
            "button.ls-button",
            { click: () => desk.go(id ? { pane: "edit", id } : { pane: "list" }) },
            text(id ? "edit" : "list"),
          ),
          ...(lesson ? [h("button.ls-button", { click: () => saveLesson(lesson) }, text("save"))] : []),
        ),
      ],
    };
  };
}
