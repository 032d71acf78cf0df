// What stands above a presented view: its headline, and the question that it answers.

import { h } from "../dom.js";

export function createHeadline() {
  const headline = h("strong.ls-headline");
  const question = h("span.ls-question");
  const element = h("div.ls-top", { role: "status", hidden: "" }, headline, question);
  return {
    element,
    /** @param {import("./lesson.js").View} view */
    show(view) {
      if (!element.isConnected) document.body.append(element);
      headline.textContent = view.headline ?? "";
      question.textContent = view.question ?? "";
      headline.hidden = !view.headline;
      question.hidden = !view.question;
      element.hidden = !view.headline && !view.question;
    },
    hide() {
      element.hidden = true;
    },
  };
}
