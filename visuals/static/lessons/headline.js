// What stands above a presented view: its headline, the question that it answers, and the answer once it is asked for.

import { h } from "../dom.js";

export function createHeadline() {
  const headline = h("strong.ls-headline");
  const question = h("span.ls-question");
  const answer = h("span.ls-says");
  const element = h("div.ls-top", { role: "status", hidden: "" }, headline, question, answer);
  return {
    element,
    /**
     * @param {import("./lesson.js").View} view
     * @param {boolean} covered whether the class has still to guess
     */
    show(view, covered) {
      if (!element.isConnected) document.body.append(element);
      headline.textContent = view.headline ?? "";
      question.textContent = view.question ?? "";
      headline.hidden = !view.headline;
      question.hidden = !view.question;
      answer.textContent = view.question ? (view.answer ?? "") : "";
      answer.hidden = covered || !answer.textContent;
      element.classList.toggle("is-asking", covered && !question.hidden);
      element.hidden = !view.headline && !view.question;
    },
    hide() {
      element.hidden = true;
    },
  };
}
