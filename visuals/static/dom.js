// Elements, numbers and formulas. Text enters the page as text nodes alone, never as markup.

/**
 * @template {string} Name
 * @typedef {Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : HTMLElement} ElementNamed
 */

/**
 * What `h` makes of a tag.
 *
 * @template {string} Tag
 * @typedef {Tag extends `${infer Name}.${string}` ? ElementNamed<Name> : ElementNamed<Tag>} ElementOf
 */

/**
 * @template {string} Tag
 * @param {Tag} tag "name" or "name.class.class"
 * @param {Object<string, string | number | boolean | Function | undefined> | null} [attributes] a function listens
 *   to that event; undefined: none of the name
 * @param {...(Node | string)} children
 * @returns {ElementOf<Tag>}
 */
export function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  if (name === "button") element.setAttribute("type", "button");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(key, /** @type {EventListener} */ (value));
    else if (value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return /** @type {ElementOf<Tag>} */ (element);
}

/**
 * An element of a drawing.
 *
 * @param {string} tag as `h` has it
 * @param {Object<string, string | number>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * What something looks like and what it is, for a legend.
 *
 * @param {string} mark as `h`'s tag
 * @param {string} text its key
 * @param {string} [hue]
 */
export const sample = (mark, text, hue) =>
  h(
    "span.gp-sample",
    null,
    h(mark, hue ? { style: `background: var(--glass-${hue}); border-color: var(--glass-${hue})` } : {}),
    h("span", { "data-text": text }),
  );

/**
 * An icon drawn with lines in a 24 × 24 box.
 *
 * @param {string} path
 */
export function icon(path) {
  return svg("svg.gp-icon", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path }));
}

/**
 * For data-value: at least `digits` significant digits, plain ASCII; "-" for NaN: there is none.
 *
 * @param {number} x
 * @returns {string}
 */
export const exact = (x, digits = 5) => (Number.isNaN(x) ? "-" : (Object.is(x, -0) ? 0 : x).toPrecision(digits));

/** @type {Record<string, string>} */
export const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const READ = 3; // significant digits of what is read
const MOST = 17; // with so many a number is told from every other

/**
 * Whether a number as written lies in the middle between two of three digits: 0.7725.
 *
 * @param {string} written
 */
function isTie(written) {
  const [whole, decimals = ""] = written.replace(/^-|e.*$/g, "").split(".");
  const further = Number(whole) < 100 ? (whole + decimals).replace(/^0+/, "").slice(READ) : decimals;
  return decimals !== "" && /^50*$/.test(further);
}

/**
 * A number with so many digits, or with more where it would be written as a tie: so it is rounded once, and what is
 * read of it (`brief`) is the number's own three digits.
 *
 * @param {number} x
 * @param {number} digits
 * @param {(x: number, digits: number) => string} write
 */
function untied(x, digits, write) {
  let [text, more] = [write(x, digits), digits];
  while (isTie(text) && Number(text) !== x && more < MOST) text = write(x, ++more);
  return text;
}

/** With so many decimals. @param {number} x @param {number} decimals */
export const fixed = (x, decimals) => x.toFixed(decimals);

const TINY = 1e-4; // below it, one would count zeros before the digits

/** As `exact`, with a power of ten for all that is so small and has more than two digits. @type {typeof exact} */
const powered = (x, digits = 5) =>
  digits > 2 && x !== 0 && Math.abs(x) < TINY ? x.toExponential(digits - 1) : exact(x, digits);

/**
 * For reading: a real minus sign, powers of ten where the number is tiny or huge, "–" for NaN: there is none.
 *
 * @param {number} x
 */
export function shown(x, digits = 4) {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return String(x);
  const [mantissa, power] = untied(x, digits, powered).split("e");
  const text = mantissa.replace("-", "−");
  if (power === undefined) return text;
  return `${text}×10${[...power.replace("+", "")].map((c) => RAISED[c]).join("")}`;
}

/** Numbers with decimals, and where it is written so, a power of ten behind them. */
const DECIMAL = /\d+\.\d+/g;

/**
 * A text with its numbers as they are read: those with decimals have three significant digits. What is just below 1
 * keeps its nines, since it is not 1.
 *
 * @param {string} text
 */
export const brief = (text) =>
  text.replace(DECIMAL, (number) => {
    const value = Number(number);
    const digits = number.replace(".", "").replace(/^0+/, "").length;
    if (digits <= READ) return number;
    const short = value < 100 ? value.toPrecision(READ) : String(Math.round(value));
    return value < 1 && Number(short) === 1 ? number : short.includes("e") ? number : short;
  });

const NINES = 8; // decimals; what is nearer to 1 is written as that

/**
 * A probability or weight: four decimals (`untied`), or a power of ten where those would be all zeros; more where
 * it would be written as 1, which it is not.
 *
 * @param {number} x
 */
export function share(x) {
  if (x < 0.001 && x !== 0) return shown(x, 3);
  const nines = x < 1 ? [4, 5, 6, 7, NINES].find((decimals) => Number(x.toFixed(decimals)) < 1) : 4;
  return untied(x, nines ?? 4, fixed);
}

/**
 * A share of a whole in per cent, "12%"; the texts of both languages write it so, without a space.
 *
 * @param {number} x
 */
export function percent(x, digits = 2) {
  if (Number.isNaN(x)) return "–";
  const value = Number((100 * x).toPrecision(digits));
  return `${value !== 0 && Math.abs(value) < 1e-3 ? shown(100 * x, digits) : String(value).replace("-", "−")}%`;
}

/**
 * A number with its thousands marked, "11,008".
 *
 * @param {number} x
 */
export const count = (x) => x.toLocaleString("en-US", { maximumFractionDigits: 2 });

/**
 * With a sign in front, also where positive; 0 has none.
 *
 * @param {number} x
 */
export const signed = (x, digits = 4) => `${x > 0 ? "+" : ""}${shown(x, digits)}`;

const OPERATOR = /(^|\s)([=≈→+−·]) (?=\S|$)/g;
const BEFORE = /\s(?=[=≈→+−·]\u00a0)/; // where a line may break
const PROSE = 60; // characters of a text that is longer than a line, which breaks as words do
/** An operator stays with what follows. @param {string} words */
const unbroken = (words) => words.replace(OPERATOR, "$1$2\u00a0");

/** A sign that is read aloud and copied, and not seen. @param {string} sign */
const unseen = (sign) => h("span.gp-hidden", null, sign);

/**
 * What texts write of a power: ^ between its base and a word, a number, or brackets, which may hold others. What
 * stands in quotes is a piece of the reader's own text, and no formula.
 */
const POWER = /“[^”]*”|(?<=[\p{L}\p{N})\]])\^([−-]?[a-zA-Z\p{N}]+|\((?:[^()]|\([^()]*\))*\))/gu;

/**
 * A text with its powers raised: e^(a + b) has "a + b" above the line. Its signs stay in the text unseen, so that
 * it is copied and read aloud as it was written.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function withPowers(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let end = 0;
  for (const { 0: whole, 1: power, index } of text.matchAll(POWER)) {
    if (!power) continue;
    const isBare = !power.startsWith("(");
    parts.push(
      text.slice(end, index),
      isBare ? h("sup", null, unseen("^"), power) : sup(...withPowers(power.slice(1, -1))),
    );
    end = index + whole.length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}

/** @param {Node | string} one */
const nodesOf = (one) => (typeof one === "string" ? withPowers(one) : [one]);

/**
 * Writes a text into an element where it says something else.
 *
 * @param {Element} element
 * @param {string} text
 */
export function putText(element, text) {
  if (element.textContent !== text) element.replaceChildren(...withPowers(text));
}

const [SPACE_BY_WIDE, OPENS_WIDE, CLOSES_WIDE] = [
  /\s+(?=[（），。、：；])|(?<=[（），。、：；])\s+/gu,
  /^[（），。、：；]/u,
  /[（），。、：；]$/u,
];
/** @param {Node | string | undefined} one */
const wordsOf = (one) => (typeof one === "string" ? one : (one?.textContent ?? ""));

/**
 * Parts of a line without spaces beside full-width brackets and marks: these bring their own.
 *
 * @param {(Node | string)[]} parts
 */
const closedUp = (parts) =>
  parts.map((one, i) => {
    if (typeof one !== "string") return one;
    const text = CLOSES_WIDE.test(wordsOf(parts[i - 1])) ? one.trimStart() : one;
    return (OPENS_WIDE.test(wordsOf(parts[i + 1])) ? text.trimEnd() : text).replace(SPACE_BY_WIDE, "");
  });

/**
 * The terms of a formula: a line breaks before an operator, and in a term only where that alone is longer than the
 * line.
 *
 * @param {(Node | string)[]} parts
 * @returns {(Node | string)[]}
 */
function inTerms(parts) {
  /** @type {(Node | string)[][]} */
  const terms = [[]];
  const told = closedUp(parts.filter((part) => part !== ""));
  for (const part of told.flatMap((one) => nodesOf(typeof one === "string" ? unbroken(one) : one))) {
    const [first, ...others] = typeof part === "string" ? part.split(BEFORE) : [part];
    terms[terms.length - 1].push(first);
    terms.push(...others.map((one) => [one]));
  }
  return terms.flatMap((term, i) => {
    const long = term.reduce((sum, one) => sum + wordsOf(one).length, 0);
    const kept = long > PROSE || terms.length === 1 ? term : [h("span.gp-term", null, ...term)];
    return i ? [" ", ...kept] : kept;
  });
}

/**
 * Text with elements in it: line`${name} = ${number}`. What stands in ${} is a node, a text, or a list of both.
 *
 * @template {string} Tag
 * @param {Tag} tag
 * @returns {(words: TemplateStringsArray, ...between: (Node | string | (Node | string)[])[]) => ElementOf<Tag>}
 */
const written =
  (tag) =>
  (words, ...between) =>
    h(tag, null, ...inTerms(words.flatMap((word, i) => [word, between[i] ?? ""].flat())));
export const line = written("p");
/** A formula of parts, as a paragraph. @param {...(Node | string)} parts */
export const formula = (...parts) => h("p", null, ...inTerms(parts));
export const phrase = written("span");
/** @param {number | string} x a number, or as it is written already */
export const strong = (x, digits = 5) => h("strong", null, typeof x === "string" ? x : shown(x, digits));
/**
 * √ over its content.
 *
 * @param {...(Node | string)} content
 */
export const root = (...content) =>
  h("span.gp-root", null, h("span.gp-sign", null, "√"), h("span.gp-under", null, ...inTerms(content)));

/**
 * One over the other.
 *
 * @param {Node | string} above
 * @param {Node | string} below
 */
export const fraction = (above, below) =>
  h("span.gp-fraction", null, h("span", null, ...nodesOf(above)), unseen(" / "), h("span", null, ...nodesOf(below)));

/**
 * A fraction in parentheses of its height.
 *
 * @param {HTMLElement} inner
 */
export const enclosed = (inner) => h("span", null, h("span.gp-paren", null, "("), inner, h("span.gp-paren", null, ")"));

/**
 * A number or name in its role's colour.
 *
 * @param {string} role
 * @param {...(Node | string)} content
 */
export const tinted = (role, ...content) => h("span", { style: `color: var(--glass-${role})` }, ...content);

/**
 * Lowered, and raised as a power.
 *
 * @param {string | number} text
 */
export const sub = (text) => h("sub", null, String(text));
/** @param {...(Node | string)} content */
export const sup = (...content) => h("sup", null, unseen("^("), ...content, unseen(")"));

/**
 * How many px of the screen one of an element's own is: a projector zooms it. 1 in a browser that cannot tell.
 *
 * @param {Element} element
 * @returns {number}
 */
export const zoomOf = (element) => element.currentCSSZoom ?? 1;
