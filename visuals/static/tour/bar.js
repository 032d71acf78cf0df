// The tour's bar at the bottom of the window: the stops, what is said of this one, a question with its answer, and the ways.

import { h } from "../dom.js";

const SEVERAL = /\{(\w+)\|([^|}]*)\|([^|}]*)\}/g; // as texts.js has it; the number itself becomes an element

/**
 * @param {object} glass @param {{ name: string }[]} stops @param {object} tour of createTour
 * @returns {{ element: HTMLElement, open: (at: number) => void, tell: Function, speak: () => void }}
 */
export function createBar(glass, stops, tour) {
  const text = (name, params) => glass.text(`tour.${name}`, params);
  const dots = stops.map(({ name }) => h("button.tour-stop", { "data-stop": name, click: () => tour.go(name) }));
  const title = h("h2.tour-title", { id: "tour-title", tabindex: "-1" });
  const said = h("div.tour-said", { "aria-live": "polite" });
  const ask = h("p.tour-ask");
  const reveal = h("button.tour-button", { "aria-expanded": "false", "aria-controls": "tour-answer", click: () => show(answer.hidden) });
  const act = h("button.tour-button", { click: () => shown.act?.run() });
  const answer = h("p.tour-answer", { id: "tour-answer", "aria-live": "polite", hidden: "" });
  const back = h("button.tour-button", { "data-text": "tour.back", click: () => tour.back() });
  const next = h("button.tour-button.tour-next", { click: () => tour.next() });
  const leave = h("button.tour-button", { "data-text": "tour.leave", click: () => tour.leave() });
  const element = h("aside.tour-bar", { role: "region", "aria-labelledby": "tour-title", hidden: "" },
    h("div.tour-top", null, h("ol.tour-stops", { "data-text-label": "tour.stops" }, ...dots.map((dot) => h("li", null, dot))), leave),
    h("div.tour-middle", null, title, said, h("div.tour-task", null, ask, h("div.tour-does", null, act, reveal), answer)),
    h("div.tour-ways", null, h("span.tour-keys", { "data-text": "tour.keys" }), back, next));
  let before = null; // what had the focus before the tour
  let shown = {};
  let last = ""; // what was last written, so that nothing is read out twice

  function show(open) {
    answer.hidden = !open;
    reveal.setAttribute("aria-expanded", String(open));
    reveal.textContent = text(open ? "hide" : "reveal");
  }

  /** @param {number} at the stop, -1 for none */
  function open(at) {
    const was = element.hidden;
    if (!element.isConnected) document.body.append(element);
    if (was && at >= 0) before = document.activeElement;
    element.hidden = at < 0;
    if (at < 0) return void (was || before?.focus?.({ preventScroll: true }));
    last = "";
    speak(at);
    element.querySelector(".tour-middle").scrollTop = 0;
    title.focus({ preventScroll: true });
  }

  /** All words that do not depend on the run, in the page's language. */
  function speak(at = tour.at()) {
    if (at < 0) return;
    glass.translate(element);
    dots.forEach((dot, i) => {
      const { name } = stops[i];
      const ticked = tour.isDone(name);
      dot.textContent = ticked ? "✓" : String(i + 1);
      dot.title = text("stop", { number: i + 1, name: text(name) });
      dot.setAttribute("aria-label", `${dot.title}${ticked ? `, ${text("done")}` : ""}`);
      dot.classList.toggle("is-done", ticked);
      if (i === at) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
    title.textContent = text("stop", { number: `${at + 1}/${stops.length}`, name: text(stops[at].name) });
    back.disabled = at === 0;
    next.textContent = text(at + 1 === stops.length ? "end" : "next");
    show(false);
    last = "";
  }

  /** A text with the run's numbers in it, as elements. */
  function sentences(key, numbers) {
    const template = text(key).replace(SEVERAL, (_, name, one, several) => (numbers[name].text === "1" ? one : several));
    const number = (name) => h("b", { "data-number": name }, numbers[name].text); // a number may stand in a text twice
    return template.split(/\{(\w+)\}/).map((words, i) => (i % 2 ? number(words) : words));
  }

  /**
   * @param {{ name: string }} stop @param {import("./stops.js").Told|null} told null while it is being measured
   * @param {boolean} [changed] whether something is switched off in the run
   */
  function tell(stop, told, changed) {
    if (!told) {
      if (last === "") said.replaceChildren(h("p.tour-note", null, text("measuring")));
      element.toggleAttribute("data-loading", true);
      return;
    }
    element.toggleAttribute("data-loading", false);
    const { numbers, say = "", asks = say, answers = asks } = told;
    const note = changed && stop.name !== "off" ? [h("p.tour-note", null, text("changed"))] : [];
    const now = JSON.stringify([glass.state.language, stop.name, say, asks, answers, told.act?.text, note.length, Object.values(numbers).map((one) => one.text)]);
    shown = told;
    element.dataset.numbers = JSON.stringify(Object.fromEntries(Object.entries(numbers).map(([name, { value }]) => [name, value])));
    if (now === last) return;
    last = now;
    said.replaceChildren(h("p", null, ...sentences(`${stop.name}_says${say}`, numbers)), ...note);
    ask.replaceChildren(...sentences(`${stop.name}_asks${asks}`, numbers));
    answer.replaceChildren(...sentences(`${stop.name}_answers${answers}`, numbers));
    act.hidden = !told.act;
    act.textContent = told.act ? text(told.act.text) : "";
    reveal.textContent = text(answer.hidden ? "reveal" : "hide");
  }
  return { element, open, tell, speak };
}
