// The arithmetic of one cell, step by step, with the run's numbers filled in. Builds elements; computes nothing but sums.

import { strongest } from "../../compute.js";
import { fraction, h, root, shown, signed, sub, tinted } from "../../dom.js";

const TERMS = 5;

const strong = (value, digits = 5) => h("strong", null, shown(value, digits));
const inBrackets = (value, digits) => (value < 0 ? `(${shown(value, digits)})` : shown(value, digits));

/** "a + b − c + (27 others: d) = total": the strongest terms, and the others as their sum. @returns {(Node|string)[]} */
export function sumOf(terms, text, digits = 4) {
  const order = strongest(terms, TERMS);
  const all = terms.reduce((sum, x) => sum + x, 0);
  const rest = all - order.reduce((sum, i) => sum + terms[i], 0);
  const parts = order.map((i, n) =>
    n === 0 ? shown(terms[i], digits) : ` ${terms[i] < 0 ? "−" : "+"} ${shown(Math.abs(terms[i]), digits)}`,
  );
  const others = terms.length - order.length;
  if (others > 0)
    parts.push(
      ` ${rest < 0 ? "−" : "+"} ${shown(Math.abs(rest), digits)} `,
      h("span.at-others", null, `(${text("others", { count: others })})`),
    );
  return [...parts, " = ", strong(all)];
}

/** One dimension's product. @returns {HTMLElement} */
export function productLine(i, q, k) {
  const names = [tinted("q", "q"), sub(String(i)), " · ", tinted("k", "k"), sub(String(i))];
  return h("p", null, ...names, " = ", inBrackets(q, 5), " · ", inBrackets(k, 5), " = ", strong(q * k));
}

/** q·k and the division. */
export function scoreLines({ terms, dot, score, width }, text) {
  const sum = h(
    "p",
    null,
    tinted("q", "q"),
    "·",
    tinted("k", "k"),
    " = Σ",
    sub("i"),
    " ",
    tinted("q", "q"),
    sub("i"),
    tinted("k", "k"),
    sub("i"),
    " = ",
    ...sumOf(terms, text),
  );
  const names = h("span", null, tinted("q", "q"), "·", tinted("k", "k"));
  const divided = h(
    "p",
    null,
    text("score"),
    " = ",
    fraction(names, root("head_dim")),
    " = ",
    fraction(shown(dot, 5), root(String(width))),
    " = ",
    strong(score),
  );
  return [sum, divided];
}

/** What the mask does to this score, and how many of the row it hides. */
export const maskLine = ({ query, key, tokens }, text) =>
  h("p.at-words", null, text("mask", { query, key, hidden: tokens - 1 - query }));

/** The softmax of the row: one power over the sum of all. */
export function weightLine({ score, top, total, weight }, text) {
  const power = (...from) => h("span", null, "e", h("sup", null, ...from));
  const below = h("span", null, "Σ", sub("j"), " e", h("sup", null, "scoreⱼ − max"));
  return h(
    "p",
    null,
    text("weight"),
    " α = ",
    fraction(power("score − max"), below),
    " = ",
    fraction(power(`${shown(score, 5)} − ${inBrackets(top, 5)}`), shown(total, 6)),
    " = ",
    strong(weight),
  );
}

/** What the key hands over: the size of α·v, and its share of the head's output (shares sum to 1 over the keys). */
export function carriedLines({ weight, size, along, square, share }, text) {
  const v = () => tinted("v", "v");
  return [
    h(
      "p",
      null,
      "‖α",
      v(),
      "‖ = α·‖",
      v(),
      "‖ = ",
      shown(weight, 5),
      " · ",
      shown(size, 5),
      " = ",
      strong(weight * size),
    ),
    h(
      "p",
      null,
      text("part"),
      " = ",
      fraction(h("span", null, "α", v(), " · o"), "o · o"),
      " = ",
      fraction(shown(along, 5), shown(square, 5)),
      " = ",
      strong(share, 4),
    ),
  ];
}

/** What the head writes to the stream: norms and cosine, which is NaN where there is none. */
export function writtenLines({ written, stream, product, cosine }, text) {
  const w = () => tinted("output", "w");
  const x = () => tinted("residual", "x");
  return [
    h(
      "p",
      null,
      w(),
      " = W",
      sub("O"),
      "[head] · o,  ‖",
      w(),
      "‖ = ",
      strong(written),
      ",  ‖",
      x(),
      "‖ = ",
      strong(stream),
      ",  ",
      fraction(h("span", null, "‖", w(), "‖"), h("span", null, "‖", x(), "‖")),
      " = ",
      strong(written / stream, 4),
    ),
    h(
      "p",
      null,
      text("cosine"),
      " = ",
      fraction(h("span", null, w(), " · ", x()), h("span", null, "‖", w(), "‖ · ‖", x(), "‖")),
      " = ",
      fraction(shown(product, 5), `${shown(written, 5)} · ${shown(stream, 5)}`),
      " = ",
      h("strong", null, signed(cosine, 4)),
      Number.isNaN(cosine) ? ` (${text("no_angle")})` : "",
    ),
  ];
}

/** One channel of the written vector as its sum over the head's dimensions. */
export const channelLine = (channel, terms, text) =>
  h(
    "p",
    null,
    tinted("output", "w"),
    sub(String(channel)),
    " = Σ",
    sub("i"),
    " W",
    sub("O"),
    "[",
    String(channel),
    ", i] · o",
    sub("i"),
    " = ",
    ...sumOf(terms, text),
  );
