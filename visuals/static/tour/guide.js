// The tour on the page: goes to a stop's chapter, selects what matters in this run, shows the panel and says its numbers.

import { isChanged } from "../off.js";
import { h } from "../dom.js";
import { createBar } from "./bar.js";
import { listenToTour } from "./keys.js";
import { createPlaces } from "./places.js";
import { createSpotlight } from "./spotlight.js";
import { STOPS } from "./stops.js";
import { createTour } from "./tour.js";

/** @param {object} glass @returns {{ go: (name: string) => void, resume: () => void }} */
export function createGuide(glass) {
  const { state } = glass;
  const places = createPlaces(glass);
  const tour = createTour(STOPS.map(({ name }) => name), glass.settings.get("tour"), changed);
  const bar = createBar(glass, STOPS, tour);
  const spotlight = createSpotlight(bar.element);
  let led = {}; // what was selected, and for which stop of which run: the reader's own choice after that stays
  document.head.append(h("link", { rel: "stylesheet", href: new URL("./style.css", import.meta.url).href }));
  listenToTour(() => tour.at() >= 0, tour);

  /** Something was switched on or off, or the tour was gone through: where one is, is written into the link. */
  function changed() {
    glass.settings.set("tour", tour.saved());
    const stop = STOPS[tour.at()];
    document.body.toggleAttribute("data-tour", Boolean(stop));
    bar.open(tour.at());
    if (!stop) return void spotlight.hide();
    led = {};
    if (state.side === "B-A") glass.showSide("B"); // a stop speaks of one run
    if (state.chapter !== stop.chapter) glass.open(stop.chapter);
    stop.set?.(glass);
    spotlight.follow();
    draw();
    glass.repaint();
  }

  function draw() {
    const stop = STOPS[tour.at()];
    if (!stop || !state.trace) return;
    const found = places();
    if (state.chapter === stop.chapter) spotlight.show(stop.panel, stop.part);
    else spotlight.hide(); // the reader looks at something else meanwhile
    if (!found) return void bar.tell(stop, null);
    const selection = stop.select(found, glass);
    const where = JSON.stringify(selection);
    if (led.stop !== stop || led.found !== found || led.where !== where) {
      led = { stop, found, where };
      queueMicrotask(() => glass.select(selection));
    }
    const told = stop.told(glass, found);
    bar.tell(stop, told, isChanged(state.trace));
  }
  glass.on("painted", draw);
  glass.on("language", () => bar.speak());
  return { go: tour.go, resume: tour.resume };
}
