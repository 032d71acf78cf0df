// A copy of what is on the page that looks the same without the page's style sheets: for pictures (picture.js).

/** Properties that an element has from its parent: written wherever they could differ from it. */
const INHERITED =
  `color color-scheme direction visibility font-family font-size font-style font-weight font-variant-numeric
  line-height letter-spacing text-align text-indent text-transform white-space word-break overflow-wrap border-collapse
  list-style-type fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray stroke-linecap stroke-linejoin
  text-anchor dominant-baseline paint-order`.split(/\s+/);
const SIDES = ["top", "right", "bottom", "left"];
const AT_SIDES = SIDES.map((side) => {
  const border = ["width", "style", "color"].map((what) => `border-${side}-${what}`);
  return [side, `margin-${side}`, `padding-${side}`, ...border].join(" ");
});
/** The others: written where they differ from what an element of that name has by itself. */
const OWN =
  `display position box-sizing width height min-width min-height max-width max-height overflow-x overflow-y opacity
  background-color background-image background-size background-position background-repeat box-shadow clip-path transform
  transform-origin vertical-align flex-direction flex-wrap flex-grow flex-shrink flex-basis order align-items align-self
  align-content justify-content justify-items justify-self row-gap column-gap grid-template-columns grid-template-rows
  grid-auto-flow grid-auto-columns grid-auto-rows grid-column-start grid-column-end grid-row-start grid-row-end
  table-layout text-overflow text-decoration-line unicode-bidi isolation z-index appearance accent-color aspect-ratio
  border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius
  ${AT_SIDES.join(" ")}`.split(/\s+/);
/** Attributes that shape an HTML element; a drawing's elements keep all but those of the page's scripts. */
const KEPT = new Set([
  "colspan",
  "rowspan",
  "type",
  "min",
  "max",
  "step",
  "disabled",
  "dir",
  "lang",
  "label",
  "aria-label",
  "role",
]);
const ONLY_HERE = /^(class|style|tabindex|data-.*|on.*)$/;
/** An attribute of a drawing's element (shellOf), since drawing programs do not read it in a style sheet. */
const MOVES = new Set(["transform", "transform-origin"]);
const SCROLLS = new Set(["auto", "scroll"]);

/**
 * Values as they were computed, before the layout made pixels of "auto" and "%"; where a browser has none, as they
 * are now.
 *
 * @param {Element} element
 * @returns {(name: string) => string}
 */
function readerOf(element) {
  const [style, map] = [getComputedStyle(element), element.computedStyleMap?.()];
  return (name) => map?.get(name)?.toString() ?? style.getPropertyValue(name);
}

/**
 * @typedef {Record<string, string>} Styles by property
 *
 * @typedef {{
 *   host: HTMLElement;
 *   root: ShadowRoot;
 *   classes: Map<string, string>;
 *   plain: Map<string, Styles>;
 * }} Sheet
 *   `classes`: the name of each rule's class; `plain`: what elements look like by themselves, by name
 */

/**
 * A place of its own without the page's styles, where a copy is built and measured. Take `host` off when done.
 *
 * @returns {Sheet}
 */
export function startSheet() {
  const host = document.createElement("div");
  host.style.cssText = "all: initial; position: absolute; left: -100000px; top: 0; contain: layout";
  document.body.append(host);
  return { host, root: host.attachShadow({ mode: "open" }), classes: new Map(), plain: new Map() };
}

/**
 * What an element of this name looks like by itself.
 *
 * @param {Sheet} sheet
 * @param {Element} element
 * @returns {Styles}
 */
function plainOf({ plain, root }, element) {
  const { localName, namespaceURI } = element;
  const type = element instanceof HTMLInputElement ? element.type : "";
  const key = `${namespaceURI} ${localName} ${type}`;
  const known = plain.get(key);
  if (known) return known;
  const probe = document.createElementNS(namespaceURI, localName);
  if (probe instanceof HTMLInputElement) probe.type = type;
  root.append(probe);
  const read = readerOf(probe);
  const styles = Object.fromEntries(OWN.map((name) => [name, read(name)]));
  plain.set(key, styles);
  probe.remove();
  return styles;
}

/**
 * What a picture does without: nobody can scroll it, so what is scrolled away is shown, and headings do not stick.
 *
 * @param {string} name
 * @param {string} value
 * @param {boolean} scrolls
 */
function still(name, value, scrolls) {
  if (name === "position") return value === "sticky" ? "static" : value;
  if (!scrolls) return value;
  if (name.startsWith("overflow")) return "visible";
  return name === "max-height" ? "none" : name === "height" ? "auto" : value;
}

/**
 * The name of the class that holds this element's styles; elements that look alike share one.
 *
 * @param {Sheet} sheet
 * @param {Element} element
 */
function classOf(sheet, element) {
  const [read, plain] = [readerOf(element), plainOf(sheet, element)];
  const scrolls = SCROLLS.has(read("overflow-x")) || SCROLLS.has(read("overflow-y"));
  const names = element instanceof SVGGraphicsElement ? OWN.filter((name) => !MOVES.has(name)) : OWN;
  const own = names
    .map((name) => [name, still(name, read(name), scrolls)])
    .filter(([name, value]) => value !== plain[name]);
  const rule = [...INHERITED.map((name) => [name, read(name)]), ...own]
    .map(([name, value]) => `${name}:${value}`)
    .join(";");
  const name = sheet.classes.get(rule) ?? `g${sheet.classes.size}`;
  sheet.classes.set(rule, name);
  return name;
}

/**
 * The style sheet of all copies made so far.
 *
 * @param {Sheet} sheet
 * @returns {string}
 */
export const rulesOf = ({ classes }) => [...classes].map(([rule, name]) => `.${name}{${rule}}`).join("\n");

/**
 * What a canvas shows.
 *
 * @param {HTMLCanvasElement} canvas
 */
function imageOf(canvas) {
  const image = document.createElement("img");
  image.src = canvas.toDataURL();
  image.alt = canvas.getAttribute("aria-label") ?? "";
  return image;
}

/**
 * An element's copy, without what is in it.
 *
 * @param {Element} element
 */
function shellOf(element) {
  const shell = document.createElementNS(element.namespaceURI, element.localName);
  const drawn = element instanceof SVGElement;
  for (const { name, value } of element.attributes) {
    if (drawn ? !ONLY_HERE.test(name) && name !== "xmlns" && !value.includes("var(") : KEPT.has(name))
      shell.setAttribute(name, value); // a colour of the page's is in the style already
  }
  if (element instanceof SVGGraphicsElement) {
    const { transform } = getComputedStyle(element);
    if (transform !== "none") shell.setAttribute("transform", transform);
  }
  if (element instanceof HTMLInputElement) {
    shell.setAttribute("value", element.value);
    if (element.checked) shell.setAttribute("checked", "");
  }
  if (element instanceof HTMLOptionElement && element.selected) shell.setAttribute("selected", "");
  return shell;
}

/** @param {Element} element */
const shows = (element) =>
  element.localName === "option" || element.localName === "optgroup" || getComputedStyle(element).display !== "none";

/**
 * The element with all that can be seen in it.
 *
 * @param {Element} element
 * @param {Sheet} sheet
 * @param {Map<Element, Element>} charts what stands in for some elements
 * @param {string} without a selector of what to leave out
 * @returns {Element}
 */
export function copyOf(element, sheet, charts = new Map(), without = ":not(*)") {
  const chart = charts.get(element);
  if (chart) return chart;
  const drawn = element instanceof HTMLCanvasElement;
  const copy = drawn ? imageOf(element) : shellOf(element);
  copy.setAttribute("class", classOf(sheet, element));
  if (drawn) return copy;
  if (element instanceof HTMLTextAreaElement) copy.textContent = element.value;
  else {
    for (const node of element.childNodes) {
      if (node instanceof Text) copy.append(node.cloneNode());
      else if (node instanceof Element && shows(node) && !node.matches(without))
        copy.append(copyOf(node, sheet, charts, without));
    }
  }
  return copy;
}
