// Canvas and colour helpers. Colours are the custom properties that visuals/palette.py writes; sizes are CSS pixels.

import { labelsOf } from "./characters.js";
import { computed } from "./reads.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
const STEPS = 256;
/** @type {(Ink & { theme: string }) | null} */
let known = null;
let zoom = 1;
let magnified = 1;
let high = Infinity;
let least = 22; // px of letters

/**
 * Everything that is drawn from now on is that much larger; panels draw in their own, unzoomed pixels.
 *
 * @param {number} factor
 */
export const setZoom = (factor) => {
  zoom = factor;
};

/**
 * The browser shows the panels that much larger than their own pixels: what is drawn then has as many more device
 * pixels.
 *
 * @param {number} factor
 * @param {number} [room] how tall a drawing is seen whole, in its own pixels
 * @param {number} [letters] px on the screen that letters have at least where the room is low: those that a hall
 *   reads
 */
export const magnify = (factor, room = Infinity, letters = 22) => {
  magnified = factor;
  high = room;
  least = letters / factor;
};

/** How tall a drawing may be that can do with less. */
export const roomToDraw = computed(() => high);

/** How small letters may be where the room is low, in a drawing's own px. */
export const leastLetters = () => least;

const [LEAST, WORDS] = [130, 72];

/**
 * How tall a chart is drawn that is as tall as this where there is room.
 *
 * @param {number} most CSS pixels
 * @param {number} [above] for what stands above it
 */
export const chartHeight = (most, above = WORDS) => Math.min(most, Math.max(LEAST, Math.floor(roomToDraw() - above)));

/**
 * Sizes a chart as `fit` does, and marks it where it is lower than it would be with more room.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} most as `chartHeight` has it
 * @param {number} [above]
 */
export function fitChart(canvas, width, most, above) {
  const tall = chartHeight(most, above);
  canvas.toggleAttribute("data-low", tall < most);
  return { context: fit(canvas, width, tall), tall };
}

/** @typedef {{ colour: (name: string) => string; magnitude: Uint8Array; signed: Uint8Array }} Ink STEPS × rgb */

/**
 * Red, green and blue, 0 … 255.
 *
 * @param {string} hex "#rrggbb"
 */
const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/**
 * Colours at equal distances, mixed linearly, as palette.table does.
 *
 * @param {string} stops "#…, #…"
 */
function tableOf(stops) {
  const list = stops.split(",").map((stop) => channels(stop.trim()));
  return Uint8Array.from({ length: STEPS * 3 }, (_, i) => {
    const place = (Math.floor(i / 3) / (STEPS - 1)) * (list.length - 1);
    const left = Math.min(Math.floor(place), list.length - 2);
    const [a, b] = [list[left][i % 3], list[left + 1][i % 3]];
    return Math.round(a + (b - a) * (place - left));
  });
}

const themeNow = computed(() => (document.body.classList.contains("dark") ? "dark" : "light"));

/**
 * The theme's colours, read once a theme.
 *
 * @returns {Ink}
 */
export function ink() {
  const theme = themeNow();
  if (known?.theme !== theme) {
    const style = getComputedStyle(document.body);
    /** @type {(name: string) => string} */
    const read = (name) => style.getPropertyValue(`--glass-${name}`).trim();
    /** @type {Record<string, string>} */
    const cache = {};
    /** @type {(name: string) => string} */
    const colour = (name) => (cache[name] ??= read(name));
    known = { theme, colour, magnitude: tableOf(read("magnitude")), signed: tableOf(read("signed")) };
  }
  return known;
}

/**
 * Where in a table the colour of x in 0…1 begins.
 *
 * @param {number} x
 */
const entry = (x) => 3 * Math.max(0, Math.min(STEPS - 1, Math.round(x * (STEPS - 1))));

/**
 * Colour of x in 0…1.
 *
 * @param {Uint8Array} table
 * @param {number} x
 * @returns {string}
 */
export function shade(table, x) {
  const i = entry(x);
  return `rgb(${table[i]} ${table[i + 1]} ${table[i + 2]})`;
}

/**
 * Black or white, whichever reads better on that colour (at least 4.5:1 on any).
 *
 * @param {Uint8Array} table
 * @param {number} x as in `shade`
 * @returns {string}
 */
export function inkOn(table, x) {
  const i = entry(x);
  const [r, g, b] = [0, 1, 2].map((c) => ((table[i + c] / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/**
 * Signed value to 0…1 of the signed table, 0 in the middle.
 *
 * @param {number} value
 * @param {number} limit the magnitude at both ends
 */
export const centred = (value, limit) => (limit > 0 ? 0.5 + value / limit / 2 : 0.5);

/** Device pixels in a pixel that is drawn. */
export const pixelRatio = computed(() => (globalThis.devicePixelRatio || 1) * zoom * magnified);

/**
 * What draws on a canvas.
 *
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function penOf(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the canvas has a context of another kind than 2d");
  return context;
}

/**
 * Sharp at any pixel density; drawing is in CSS pixels, on an empty canvas.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width CSS pixels
 * @param {number} height
 * @returns {CanvasRenderingContext2D}
 */
export function fit(canvas, width, height) {
  const ratio = pixelRatio();
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width * zoom}px`;
    canvas.style.height = `${height * zoom}px`;
  }
  const context = penOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * One pixel a cell; a cell whose value is NaN stays clear.
 *
 * @param {ArrayLike<number>} values row by row
 * @param {number} columns
 * @param {number} rows
 * @param {Uint8Array} table as `ink` has it
 * @param {(value: number) => number} place value to 0…1
 */
export function cells(values, columns, rows, table, place) {
  const image = new ImageData(columns, rows);
  for (let i = 0; i < columns * rows; i++) {
    if (Number.isNaN(values[i])) continue;
    const from = entry(place(values[i]));
    image.data.set([table[from], table[from + 1], table[from + 2], 255], 4 * i);
  }
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  penOf(canvas).putImageData(image, 0, 0);
  return canvas;
}

/**
 * Draws cells large and sharp.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {HTMLCanvasElement} image
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
export function enlarge(context, image, x, y, width, height) {
  context.imageSmoothingEnabled = false;
  context.drawImage(image, x, y, width, height);
}

/**
 * Draws what lies inside a rectangle.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {() => void} paint
 */
export function inside(context, x, y, width, height, paint) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  paint();
  context.restore();
}

/**
 * Straight lines in a colour, each from one point to another.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {[number, number, number, number][]} lines
 */
export function strokeLines(context, colour, lines) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (const [fromX, fromY, toX, toY] of lines) {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  }
  context.stroke();
}

/**
 * 0, step, 2 step … below `end`.
 *
 * @param {number} end
 * @param {number} step
 */
export const stepsTo = (end, step) => Array.from({ length: Math.max(0, Math.ceil(end / step)) }, (_, i) => i * step);

/**
 * Diagonal lines: "the mask hides this", which no colour of a scale can be mistaken for.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
export function hatch(context, x, y, width, height) {
  const { colour } = ink();
  inside(context, x, y, width, height, () => {
    context.fillStyle = colour("masked");
    context.fillRect(x, y, width, height);
    strokeLines(
      context,
      colour("masked-line"),
      stepsTo(width + height, 7).map((d) => [x + d - height, y + height, x + d, y]),
    );
  });
}

/**
 * A frame; it shows on every colour unless told: white inside black.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {[string, number][]} strokes hue and width, from the undermost on
 */
export function cross(
  context,
  x,
  y,
  width,
  height,
  strokes = [
    ["cross-edge", 4],
    ["cross", 2],
  ],
) {
  for (const [name, line] of strokes) {
    context.strokeStyle = ink().colour(name);
    context.lineWidth = line;
    context.strokeRect(x, y, width, height);
  }
}

/**
 * A line of text.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {{
 *   size?: number;
 *   weight?: number;
 *   colour?: string;
 *   align?: CanvasTextAlign;
 *   base?: CanvasTextBaseline;
 *   most?: number;
 * }} [how]
 *   `most`: cut with … to that width
 */
export function write(
  context,
  text,
  x,
  y,
  { size = 14, weight = 400, colour, align = "left", base = "alphabetic", most } = {},
) {
  context.font = `${weight} ${size}px ${FONT}`;
  context.fillStyle = colour ?? ink().colour("text");
  context.textAlign = align;
  context.textBaseline = base;
  context.fillText(most === undefined ? text : cut(context, text, most), x, y);
}

/**
 * How wide a text is that is written at its usual size.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 */
export function textWidth(context, text, weight = 400) {
  context.font = `${weight} 14px ${FONT}`;
  return context.measureText(text).width;
}

/**
 * The text, or its beginning and … where it is wider than `most` in the context's font.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} most CSS pixels
 */
export function cut(context, text, most) {
  if (context.measureText(text).width <= most) return text;
  const letters = [...text];
  while (letters.length && context.measureText(`${letters.join("")}…`).width > most) letters.pop();
  return letters.length ? `${letters.join("")}…` : "";
}

/**
 * A colour scale with ticks under it; labels without room are left out, the one at its end never.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {Uint8Array} table as `ink` has it
 * @param {[number, string][]} ticks place in 0…1 and text, from left to right
 */
export function scaleBar(context, x, y, width, table, ticks) {
  for (let i = 0; i < width; i++) {
    context.fillStyle = shade(table, i / (width - 1));
    context.fillRect(x + i, y, 1.5, 12);
  }
  const { colour } = ink();
  context.strokeStyle = colour("muted");
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width, 11);
  context.font = `14px ${FONT}`;
  const [last, end] = ticks.at(-1) ?? [0, ""];
  const room = last > 0.94 ? width - context.measureText(end).width - 10 : width;
  let free = -Infinity;
  for (const [place, label] of ticks) {
    const [wide, middle] = [context.measureText(label).width, place * width];
    const left = place < 0.06 ? middle : place > 0.94 ? middle - wide : middle - wide / 2;
    if (left < free || (place <= 0.94 && left + wide > room)) continue;
    free = left + wide + 10;
    context.beginPath();
    context.moveTo(x + place * width, y + 12);
    context.lineTo(x + place * width, y + 16);
    context.stroke();
    const align = place < 0.06 ? "left" : place > 0.94 ? "right" : "center";
    write(context, label, x + place * width, y + 30, { align, colour: colour("muted") });
  }
}

const [ISOLATE, END] = ["\u2068", "\u2069"];
const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/; // Hebrew, Arabic and their like
/**
 * A piece as it stands among others: what is written from right to left turns round nothing beside it.
 *
 * @param {string} piece
 */
export const isolated = (piece) => (LEFTWARD.test(piece) ? ISOLATE + piece + END : piece);

const PICTURES = 0x2400; // where Unicode's pictures of the control characters begin
/**
 * A token as it can be seen: spaces as ·, line breaks as ⏎, tabs as ⇥, other control characters as Unicode pictures
 * them.
 *
 * @param {string} piece
 * @returns {string}
 */
export const visible = (piece) =>
  isolated(piece)
    .replace(/ /g, "·")
    .replace(/\n/g, "⏎")
    .replace(/\t/g, "⇥")
    .replace(/\p{Cc}/gu, (sign) => {
      const code = sign.charCodeAt(0);
      return code < 32 ? String.fromCodePoint(PICTURES + code) : code === 127 ? "␡" : sign;
    });

/**
 * How a selection is named in texts: its tokens as they can be seen, and at which positions.
 *
 * @param {Pick<import("./selection.js").Selection, "layer" | "head" | "query" | "key"> & {
 *   trace: Pick<import("./decode.js").Trace, "tokens">;
 * }} place
 */
export function cellNames({ trace, layer, head, query, key }) {
  /** @type {(t: number) => string} */
  const piece = (t) => visible(labelsOf(trace.tokens.pieces)[t]);
  return { layer, head, query: piece(query), key: piece(key), m: query, n: key };
}
