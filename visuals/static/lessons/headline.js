// What stands above a presented view: its headline, the question that it answers, and the answer once it is asked for,
// whose room is kept until then: what is shown below stays where it is, and a guess can be compared with it.

import { h } from "../dom.js";

const headlineAndQuestion = () => [h("strong.ls-headline"), h("span.ls-question")];

export function createHeadline() {
  const answer = h("span.ls-says");
  const layers = [headlineAndQuestion(), headlineAndQuestion()];
  const [asking, told] = layers; // in one place, the first while it is open, in larger letters
  const element = h(
    "div.ls-top",
    { role: "status", hidden: "" },
    h("div.ls-asking", null, ...asking),
    h("div.ls-told", null, ...told, answer),
  );
  return {
    element,
    /**
     * @param {import("./lesson.js").View} view
     * @param {boolean} covered whether the class has still to guess
     */
    show(view, covered) {
      for (const [headline, question] of layers) {
        headline.textContent = view.headline ?? "";
        question.textContent = view.question ?? "";
        headline.hidden = !view.headline;
        question.hidden = !view.question;
      }
      answer.textContent = view.question ? (view.answer ?? "") : "";
      answer.hidden = !answer.textContent;
      element.classList.toggle("is-asking", covered && Boolean(view.question));
      element.classList.toggle("is-answered", Boolean(answer.textContent));
      element.hidden = !view.headline && !view.question;
    },
    hide() {
      element.hidden = true;
    },
  };
}
