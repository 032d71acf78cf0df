// Tokens as text: the bytes of a character that several tokens hold are put together.

const BYTES = /(?:⟨[0-9A-F]{2}⟩)+/g; // as model/tokenizer.py shows bytes that are no whole character
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The text of these pieces, with the bytes of a character that several tokens hold put together.
 *
 * @param {string[]} pieces
 */
export function textOf(pieces) {
  return pieces.join("").replace(BYTES, (shown) => {
    try {
      return utf8.decode(Uint8Array.from(shown.match(/[0-9A-F]{2}/g) ?? [], (byte) => parseInt(byte, 16)));
    } catch {
      return shown;
    }
  });
}

/**
 * Tokens as they are shown: those that hold one character together are one.
 *
 * @param {{ piece: string; position: number }[]} tokens
 * @returns {{ position: number; text: string }[]}
 */
export function shownTokens(tokens) {
  /** @type {{ position: number; text: string }[]} */
  const found = [];
  /** @type {{ piece: string; position: number }[]} */
  let open = []; // tokens whose bytes are no whole character yet
  tokens.forEach((token, i) => {
    open.push(token);
    const text = textOf(open.map(({ piece }) => piece));
    // a character has four bytes at most
    if (i < tokens.length - 1 && /⟨[0-9A-F]{2}⟩$/.test(text) && open.length < 4) return;
    found.push({ position: open[0].position, text });
    open = [];
  });
  return found;
}

const [LEAD, BITS] = [0xc2, 6]; // the least byte that begins a character of several; bits in each byte after it
const HAN = /\p{Script=Han}/u;
/** Whether a text has a Chinese character. @param {string} text */
export const hasChinese = (text) => HAN.test(text);

/**
 * What a piece of bytes that are no whole character is of one in UTF-8: `have` of its `whole` bytes, and whether it
 * is a Chinese one whatever the other bytes are. `whole` is 0 where they go on with one that was begun before.
 *
 * @param {string} piece
 * @returns {{ have: number; whole: number; isChinese: boolean } | null} null for a piece of characters
 */
export function partOfCharacter(piece) {
  const shown = piece.match(/^(?:⟨[0-9A-F]{2}⟩)+$/) ? (piece.match(/[0-9A-F]{2}/g) ?? []) : [];
  if (!shown.length) return null;
  const [lead, ...others] = shown.map((byte) => parseInt(byte, 16));
  const have = shown.length;
  if (lead < LEAD) return { have, whole: 0, isChinese: false };
  const whole = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const missing = BITS * (whole - have);
  const own = others.reduce((code, byte) => (code << BITS) | (byte & 0x3f), lead & (0x7f >> whole));
  const all = Array.from({ length: missing < 0 ? 0 : 1 << missing }, (_, rest) => (own << missing) | rest);
  const isChinese = whole === 3 && all.every((code) => hasChinese(String.fromCodePoint(code)));
  return { have, whole, isChinese };
}

/** @type {WeakMap<string[], string[]>} */
const labels = new WeakMap();

/**
 * Each token's name where tokens stand one by one: a token that holds a part of a character is named by that
 * character and by which part of it it is, such as 里(1/2). The same array for the same pieces.
 *
 * @param {string[]} pieces
 */
export function labelsOf(pieces) {
  const known = labels.get(pieces);
  if (known) return known;
  const shown = shownTokens(pieces.map((piece, position) => ({ piece, position })));
  const found = shown.flatMap(({ position, text }, i) => {
    const count = (shown[i + 1]?.position ?? pieces.length) - position;
    if (count === 1) return [pieces[position]];
    return Array.from({ length: count }, (_, part) => `${text}(${part + 1}/${count})`);
  });
  labels.set(pieces, found);
  return found;
}

/**
 * How many bytes of UTF-8 a piece stands for.
 *
 * @param {string} piece
 */
export const bytesOf = (piece) => new TextEncoder().encode(piece.replace(/⟨[0-9A-F]{2}⟩/g, "b")).length;

/**
 * What an encoder read, without the tokens that end it.
 *
 * @param {import("./decode.js").Trace} encoder
 */
export const sourceTokens = ({ model, tokens: { ids, pieces } }) =>
  shownTokens(
    pieces.map((piece, t) => ({ id: ids[t], piece, position: t })).filter(({ id }) => !model.eos_ids.includes(id)),
  ).map(({ position, text }) => ({ position: `source${position}`, text }));
