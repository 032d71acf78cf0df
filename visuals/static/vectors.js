// What is laid out on the page, written as an SVG's rectangles, texts and images: drawing programs skip a
// foreignObject.

import { svg as element } from "./dom.js";
import { penOf } from "./draw.js";

/**
 * @typedef {{ x: number; y: number; width: number; height: number }} Box CSS pixels
 *
 * @typedef {Record<string, string | number>} Attributes of an element of a drawing
 *
 * @typedef {{ wide: number; kind: string; colour: string }} Edge a border as its style says
 *
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 */

const SIDES = ["top", "right", "bottom", "left"];

/**
 * A computed colour as an SVG of 1999 has it, its opacity apart.
 *
 * @param {"fill" | "stroke"} name
 * @param {string} colour
 * @returns {Attributes | null} null: nothing to see
 */
function paint(name, colour) {
  const [r, g, b, alpha = 1] = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  if (alpha === 0) return null;
  const whole = colour.startsWith("color(") ? 255 : 1; // a mixed colour is computed as shares of one
  return {
    [name]: `rgb(${[r, g, b].map((part) => Math.round(part * whole))})`,
    ...(alpha < 1 ? { [`${name}-opacity`]: alpha } : {}),
  };
}

/**
 * @param {Box} box
 * @param {Attributes | null} more
 */
const rect = (box, more) => element("rect", { x: box.x, y: box.y, width: box.width, height: box.height, ...more });

/** @type {Record<string, number[] | undefined>} */
const DASHES = { dashed: [3, 2], dotted: [1, 1] }; // in widths of the line

const COLOUR = String.raw`(?:rgba?|color)\([^)]*\)`;
const RING = new RegExp(`^(${COLOUR}) 0px 0px 0px ([\\d.]+)px( inset)?$`);
const STOPS = [`(${COLOUR}) 0px`, `${COLOUR} ([\\d.]+)px`, `(${COLOUR}) [\\d.]+px`, `${COLOUR} ([\\d.]+)px`].join(", ");
const HATCH = new RegExp(`^repeating-linear-gradient\\((-?)45deg, ${STOPS}\\)$`);
const BANDS = new RegExp(`^linear-gradient\\((${COLOUR}) ([\\d.]+)%, (${COLOUR}) [\\d.]+%\\)$`);

/**
 * A ring that the style sheets draw as a shadow without blur.
 *
 * @param {CSSStyleDeclaration} style
 * @param {Box} box
 * @param {number} round the radius of its corners
 * @returns {SVGElement[]} one, or none
 */
function ringOf(style, box, round) {
  const found = RING.exec(style.boxShadow);
  if (!found) return [];
  const wide = Number(found[2]);
  const out = found[3] ? -wide / 2 : wide / 2; // from the edge to the middle of the ring
  const place = { x: box.x - out, y: box.y - out, width: box.width + 2 * out, height: box.height + 2 * out };
  return [
    rect(place, { rx: Math.max(0, round + out), fill: "none", ...paint("stroke", found[1]), "stroke-width": wide }),
  ];
}

/**
 * The two patterns that the style sheets lay over a ground: diagonal lines, and an upper and a lower band.
 *
 * @param {CSSStyleDeclaration} style
 * @param {Box} box
 * @param {number} round the radius of its corners
 * @returns {SVGElement[]} none where there is no such pattern
 */
function patternOf(style, box, round) {
  const hatch = HATCH.exec(style.backgroundImage);
  if (hatch) {
    const [, rises, ground, from, line, to] = hatch;
    const [step, wide] = [Number(to) * Math.SQRT2, Number(to) - Number(from)]; // along an edge, across a line
    const across = (/** @type {number} */ x) => box.x + (rises ? x : box.width - x);
    const lines = [];
    for (let d = step / 2; d < box.width + box.height; d += step) {
      const [right, left] = [Math.min(d, box.width), Math.max(0, d - box.height)];
      lines.push(`M${across(right)} ${box.y + d - right} L${across(left)} ${box.y + d - left}`);
    }
    const stroke = { fill: "none", ...paint("stroke", line), "stroke-width": wide };
    const under = paint("fill", ground);
    return [...(under ? [rect(box, { rx: round, ...under })] : []), element("path", { d: lines.join(" "), ...stroke })];
  }
  const bands = BANDS.exec(style.backgroundImage);
  if (!bands) return [];
  const [, upper, share, lower] = bands;
  const cut = (box.height * Number(share)) / 100;
  return [
    rect({ ...box, height: cut }, paint("fill", upper)),
    rect({ ...box, y: box.y + cut, height: box.height - cut }, paint("fill", lower)),
  ];
}

/**
 * The ground and the borders of an element.
 *
 * @param {CSSStyleDeclaration} style
 * @param {Box} box
 * @returns {SVGElement[]}
 */
function boxOf(style, box) {
  const { x, y, width, height } = box;
  const round = Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2, height / 2);
  const ground = paint("fill", style.backgroundColor);
  const shapes = ground ? [rect(box, { rx: round, ...ground })] : [];
  shapes.push(...patternOf(style, box, round), ...ringOf(style, box, round));
  const edges = SIDES.map((side) => {
    const [kind, colour, wide] = ["style", "color", "width"].map((name) =>
      style.getPropertyValue(`border-${side}-${name}`),
    );
    return { wide: kind === "none" ? 0 : parseFloat(wide), kind, colour };
  });
  /** @type {(edge: Edge) => Attributes | null} null: nothing to see */
  const line = ({ wide, kind, colour }) => {
    const stroke = wide > 0 ? paint("stroke", colour) : null;
    const dashes = DASHES[kind]?.map((part) => part * wide).join(" ");
    return stroke && { ...stroke, "stroke-width": wide, ...(dashes ? { "stroke-dasharray": dashes } : {}) };
  };
  const [{ wide, kind, colour }] = edges;
  if (edges.every((edge) => edge.wide === wide && edge.kind === kind && edge.colour === colour)) {
    const inner = {
      x: x + wide / 2,
      y: y + wide / 2,
      width: Math.max(0, width - wide),
      height: Math.max(0, height - wide),
    };
    return line(edges[0]) ? [...shapes, rect(inner, { rx: round, fill: "none", ...line(edges[0]) })] : shapes;
  }
  const [top, right, bottom, left] = edges.map((edge) => edge.wide / 2);
  const ways = [
    `M${x} ${y + top} h${width}`,
    `M${x + width - right} ${y} v${height}`,
    `M${x} ${y + height - bottom} h${width}`,
    `M${x + left} ${y} v${height}`,
  ];
  return [
    ...shapes,
    ...edges.flatMap((edge, i) => (line(edge) ? [element("path", { d: ways[i], fill: "none", ...line(edge) })] : [])),
  ];
}

/**
 * A text node's lines as they are broken now.
 *
 * @param {Text} node
 * @returns {{ words: string; box: Box }[]}
 */
function linesOf(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const whole = range.getClientRects();
  if (whole.length < 2) return whole.length ? [{ words: node.data, box: whole[0] }] : [];
  /** @type {{ words: string; box: Box }[]} */
  const lines = [];
  let start = 0;
  for (const character of node.data) {
    range.setStart(node, start);
    range.setEnd(node, (start += character.length));
    const box = range.getClientRects()[0];
    if (!box) continue; // a space where a line ends
    const line = lines.at(-1);
    if (!line || Math.abs(line.box.y - box.y) >= box.height / 2)
      lines.push({ words: character, box: { x: box.x, y: box.y, width: box.width, height: box.height } });
    else {
      line.words += character;
      line.box.width = box.right - line.box.x;
    }
  }
  return lines;
}

/** @type {CanvasRenderingContext2D | null} measures fonts */
let pen = null;
/**
 * One line of text. `box` is as high as its font, whose ascent tells the base line; its width is told too, so that
 * the text keeps its place where a drawing program has other fonts.
 *
 * @param {string} words
 * @param {Omit<Box, "width"> & { width?: number }} box a width that is left out is what the font makes it
 * @param {CSSStyleDeclaration} style
 */
function lineOf(words, box, style) {
  pen ??= penOf(document.createElement("canvas"));
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = pen.measureText("x");
  const y = box.y + (box.height * ascent) / (ascent + descent);
  const font = {
    "font-family": style.fontFamily,
    "font-size": parseFloat(style.fontSize),
    "font-weight": style.fontWeight,
    "font-style": style.fontStyle,
  };
  /** @type {Attributes} */
  const width = box.width ? { textLength: box.width, lengthAdjust: "spacingAndGlyphs" } : {};
  return element(
    "text",
    { x: box.x, y, "xml:space": "preserve", ...width, ...font, ...paint("fill", style.color) },
    words.replace(/\s/g, " "),
  );
}

/**
 * A control as its state is: how far a slider is, whether a box is ticked, what is written in a field.
 *
 * @param {Control} node
 * @param {CSSStyleDeclaration} style
 * @param {Box} box
 * @returns {SVGElement[]}
 */
function controlOf(node, style, box) {
  const [accent, line] = [style.accentColor === "auto" ? style.color : style.accentColor, paint("stroke", style.color)];
  const middle = box.y + box.height / 2;
  if (node instanceof HTMLInputElement && node.type === "range") {
    const [low, high] = [Number(node.min || 0), Number(node.max || 100)];
    const knob = box.x + 8 + ((Number(node.value) - low) / (high - low || 1)) * (box.width - 16);
    /** @type {(to: number, how: Attributes | null) => SVGElement} */
    const track = (to, how) => element("path", { d: `M${box.x + 4} ${middle} H${to}`, "stroke-width": 4, ...how });
    return [
      track(box.x + box.width - 4, { ...line, "stroke-opacity": 0.3 }),
      track(knob, paint("stroke", accent)),
      element("circle", { cx: knob, cy: middle, r: 7, ...paint("fill", accent) }),
    ];
  }
  if (node instanceof HTMLInputElement && ["checkbox", "radio"].includes(node.type)) {
    const tick = element("path", {
      d: `M${box.x + 3} ${middle} l${box.width / 3 - 1} 3 l${box.width / 3} -7`,
      fill: "none",
      "stroke-width": 2,
      ...line,
    });
    return [rect(box, { rx: 2, fill: "none", "stroke-width": 1, ...line }), ...(node.checked ? [tick] : [])];
  }
  const words = node instanceof HTMLSelectElement ? (node.selectedOptions[0]?.textContent ?? "") : node.value;
  const size = parseFloat(style.fontSize) * 1.2;
  return [
    ...boxOf(style, box),
    lineOf(words, { x: box.x + parseFloat(style.paddingLeft) + 1, y: middle - size / 2, height: size }, style),
  ];
}

/**
 * A drawing within the page, in its place.
 *
 * @param {SVGElement} svg
 * @param {Box} box
 */
function placed(svg, box) {
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
  for (const [name, value] of Object.entries(box)) copy.setAttribute(name, String(value));
  return copy;
}

/**
 * Rectangles, texts and images in place of an element that is laid out somewhere, from its upper left corner.
 *
 * @param {HTMLElement} root
 * @returns {SVGElement}
 */
export function vectorsOf(root) {
  const corner = root.getBoundingClientRect();
  /** @type {(place: Box) => Box} */
  const from = ({ x, y, width, height }) => ({ x: x - corner.x, y: y - corner.y, width, height });
  let clips = 0;

  /**
   * What is in an element, as far as it is to be seen.
   *
   * @param {Element} node
   * @param {CSSStyleDeclaration} style
   * @param {Box} box
   * @returns {SVGElement[]}
   */
  function inside(node, style, box) {
    const content = Array.from(node.childNodes).flatMap((child) => {
      if (child instanceof Text)
        return linesOf(child)
          .filter(({ words }) => words.trim())
          .map((line) => lineOf(line.words, from(line.box), style));
      return child instanceof Element ? drawn(child) : [];
    });
    if (style.overflowX === "visible" || node.scrollWidth <= node.clientWidth + 1) return content;
    const name = `cut${clips++}`;
    return [
      element("clipPath", { id: name }, rect(box, {})),
      element("g", { "clip-path": `url(#${name})` }, ...content),
    ];
  }

  /**
   * An element with what is in it.
   *
   * @param {Element} node
   * @returns {SVGElement[]}
   */
  function drawn(node) {
    const style = getComputedStyle(node);
    const box = from(node.getBoundingClientRect());
    if (style.visibility === "hidden" || style.clipPath !== "none" || style.display === "none") return [];
    if (node instanceof SVGElement) return [placed(node, box)];
    if (node instanceof HTMLImageElement)
      return [element("image", { ...box, href: node.src, preserveAspectRatio: "none" })];
    const control =
      node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement;
    const shapes = control ? controlOf(node, style, box) : [...boxOf(style, box), ...inside(node, style, box)];
    return style.opacity === "1" || !shapes.length ? shapes : [element("g", { opacity: style.opacity }, ...shapes)];
  }
  return element("g", {}, ...drawn(root));
}
