// The bar of a tour at the bottom of the window: the stops, what is said of this one, a question with its answer, and
// the ways.

import { h } from "../dom.js";

const SEVERAL = /\{(\w+)\|([^|}]*)\|([^|}]*)\}/g; // as texts.js has it; the number itself becomes an element
const LONG = 40; // characters

/**
 * @typedef {import("./tours.js").Tour & { way: ReturnType<typeof import("./tour.js").createTour> }} Walk a tour,
 *   and where one is in it
 */

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {{ next: () => void; back: () => void; leave: () => void; go: (stop: string) => void }} ways
 * @returns {{ element: HTMLElement; open: (walk: Walk | null) => void; tell: Function; speak: () => void }}
 */
export function createBar(glass, ways) {
  const text = (name, params) => glass.text(`tour.${name}`, params);
  const own = (name, params) => glass.text(`${walk.section}.${name}`, params);
  const list = h("ol.tour-stops", { "data-text-label": "tour.stops" });
  const title = h("h2.tour-title", { id: "tour-title", tabindex: "-1" });
  const said = h("div.tour-said", { "aria-live": "polite" });
  const ask = h("p.tour-ask");
  const reveal = h("button.tour-button", {
    "aria-expanded": "false",
    "aria-controls": "tour-answer",
    click: () => show(answer.hidden),
  });
  const act = h("button.tour-button", { click: () => shown.act?.run() });
  const answer = h("p.tour-answer", { id: "tour-answer", "aria-live": "polite", hidden: "" });
  const back = h("button.tour-button", { "data-text": "tour.back", click: ways.back });
  const next = h("button.tour-button.tour-next", { click: ways.next });
  const leave = h("button.tour-button", { "data-text": "tour.leave", click: ways.leave });
  const element = h(
    "aside.tour-bar",
    { role: "region", "aria-labelledby": "tour-title", hidden: "" },
    h("div.tour-top", null, list, h("span.tour-keys", { "data-text": "tour.keys" }), leave, back, next),
    h(
      "div.tour-middle",
      null,
      title,
      said,
      h("div.tour-task", null, ask, h("div.tour-does", null, act, reveal), answer),
    ),
  );
  let walk = null; // the tour that one is on
  let dots = [];
  let before = null; // what had the focus before the tour
  let shown = {};
  let last = ""; // what was last written, so that nothing is read out twice

  function show(open) {
    answer.hidden = !open;
    reveal.setAttribute("aria-expanded", String(open));
    reveal.textContent = text(open ? "hide" : "reveal");
    if (open) answer.scrollIntoView({ block: "nearest" }); // within the bar
  }

  /** @param {Walk | null} next the tour that one is on */
  function open(next) {
    const was = element.hidden;
    if (!element.isConnected) document.body.append(element);
    if (was && next) before = document.activeElement;
    element.hidden = !next;
    if (next && next !== walk) {
      dots = next.stops.map(({ name }) => h("button.tour-stop", { "data-stop": name, click: () => ways.go(name) }));
      list.replaceChildren(...dots.map((dot) => h("li", null, dot)));
    }
    walk = next;
    if (!next) return void (was || before?.focus?.({ preventScroll: true }));
    speak();
    element.querySelector(".tour-middle").scrollTop = 0;
    title.focus({ preventScroll: true });
  }

  /** All words that do not depend on the run, in the page's language. */
  function speak() {
    if (!walk) return;
    const { stops, way } = walk;
    const at = way.at();
    glass.translate(element);
    dots.forEach((dot, i) => {
      const { name } = stops[i];
      const ticked = way.isDone(name);
      dot.textContent = ticked ? "✓" : String(i + 1);
      dot.title = text("stop", { number: i + 1, name: own(name) });
      dot.setAttribute("aria-label", `${dot.title}${ticked ? `, ${text("done")}` : ""}`);
      dot.classList.toggle("is-done", ticked);
      if (i === at) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
    head(stops[at].name);
    back.disabled = at === 0;
    next.textContent = text(at + 1 === stops.length ? "end" : "next");
    show(false);
    last = "";
  }

  /** @param {string} name of the stop, or of its title for the network that is shown */
  function head(name) {
    title.textContent = text("stop", { number: `${walk.way.at() + 1}/${walk.stops.length}`, name: own(name) });
  }

  /** A text with the run's numbers in it, as elements. */
  function sentences(key, numbers) {
    const template = own(key).replace(SEVERAL, (_, name, one, several) => (numbers[name].text === "1" ? one : several));
    // A number may stand in a text twice; a list is not set off from the words around it.
    const number = (name) =>
      h(numbers[name].text.length > LONG ? "span" : "b", { "data-number": name }, numbers[name].text);
    return template.split(/\{(\w+)\}/).map((words, i) => (i % 2 ? number(words) : words));
  }

  /**
   * @param {import("./stops.js").Stop} stop
   * @param {import("./stops.js").Told | null} told null while it is being measured
   * @param {boolean} [changed] whether something is switched off in the run
   */
  function tell(stop, told, changed) {
    head(stop.title ?? stop.name);
    if (!told) {
      if (last === "") {
        said.replaceChildren(h("p.tour-note", null, own("measuring")));
        for (const one of [ask, answer]) one.replaceChildren(); // they are still those of the stop before
        act.hidden = true;
      }
      element.toggleAttribute("data-loading", true);
      return;
    }
    element.toggleAttribute("data-loading", false);
    const texts = stop.texts ?? stop.name;
    const { numbers, say = "", asks = say, answers = asks } = told;
    const note = changed && stop.namesChanges !== false ? [h("p.tour-note", null, text("changed"))] : [];
    const now = JSON.stringify([
      glass.state.language,
      texts,
      say,
      asks,
      answers,
      told.act?.text,
      told.act?.busy,
      note.length,
      Object.values(numbers).map((one) => one.text),
    ]);
    shown = told;
    element.dataset.numbers = JSON.stringify(
      Object.fromEntries(Object.entries(numbers).map(([name, { value }]) => [name, value])),
    );
    if (now === last) return;
    last = now;
    said.replaceChildren(h("p", null, ...sentences(`${texts}_says${say}`, numbers)), ...note);
    ask.replaceChildren(...sentences(`${texts}_asks${asks}`, numbers));
    answer.replaceChildren(...sentences(`${texts}_answers${answers}`, numbers));
    act.hidden = !told.act;
    act.textContent = told.act
      ? own(told.act.text, Object.fromEntries(Object.entries(numbers).map(([name, { value }]) => [name, value])))
      : "";
    act.disabled = Boolean(told.act?.busy);
    reveal.textContent = text(answer.hidden ? "reveal" : "hide");
  }
  return { element, open, tell, speak };
}
