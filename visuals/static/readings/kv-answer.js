// What the calculators of the KV cache read off the server's answers: bytes, of which every digit tells, and their
// products.

/**
 * @typedef {import("../decoded.d.ts").Calculation<"kv">} Answer
 *
 * @typedef {import("../messages.d.ts").CalledCard} Card
 *
 * @typedef {import("../messages.d.ts").Product} Product
 *
 * @typedef {import("./reading.js").Cell} Cell
 *
 * @typedef {import("./reading.js").Part} Part
 */

/**
 * A number of a message, which is a decimal text: it stays one where a number does not hold all its digits.
 *
 * @param {string} text
 */
export function counted(text) {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}

/**
 * A model as it is called; a pasted config has a text of the page for its name.
 *
 * @param {string} name
 * @returns {Part}
 */
export const nameCell = (name) => (name.startsWith("text:") ? { key: name.slice("text:".length) } : name);

/**
 * As `nameCell`; a pasted config that calls itself something is called so.
 *
 * @param {Card} card
 */
export const calledCell = (card) => card.called ?? nameCell(card.name);

/**
 * Parts with a text between every two.
 *
 * @param {Part[]} parts
 * @param {string} between
 */
const joined = (parts, between) => parts.flatMap((part, i) => (i ? [between, part] : [part]));

/**
 * Where a model's numbers were read.
 *
 * @param {Pick<Card, "source">} card
 */
export const sourceCell = (card) => joined(card.source, "; ");

/**
 * Numbers as the file has them all: without commas between their thousands.
 *
 * @param {string} sum
 */
const plain = (sum) => sum.replace(/(?<=\d),(?=\d{3}(?!\d))/g, "");

/**
 * The particulars of a text with plain numbers.
 *
 * @param {Record<string, unknown>} params
 */
const plainIn = (params) =>
  Object.fromEntries(Object.entries(params).map(([name, one]) => [name, typeof one === "string" ? plain(one) : one]));

/**
 * @param {Product} product
 * @returns {Part[]} each factor with what it counts, and how it came about
 */
const productCell = ({ factors }) =>
  factors.flatMap(({ value, code, params, how }, i) => {
    const came =
      typeof how === "object" ? { key: `kv.factor_how_${how.code}`, params: plainIn(how.params) } : plain(how ?? "");
    return [`${i ? " × " : ""}${value} `, { key: `kv.factor_${code}`, params }, ...(came ? [" (", came, ")"] : [])];
  });

/**
 * The texts that say what a product is of. Layers with an indexer read a few of the tokens that they keep.
 *
 * @param {string} label such as "self.full.kv", or "draft.self.full.kv" of a model that drafts
 * @param {Product[]} terms all products of the cache
 */
export function termTexts(label, terms) {
  const draft = label.startsWith("draft.");
  const parts = label.replace("draft.", "").split(".");
  const what = parts.pop();
  const place = parts.join("_");
  const indexer = `${draft ? "draft." : ""}self.full.indexer`;
  const sparse = place === "self_full" && terms.some((term) => term.label === indexer);
  return { place: `kv.place_${sparse ? "self_sparse" : place}`, part: `kv.part_${what}`, draft };
}

/**
 * @param {string} label of a product
 * @param {Product[]} terms
 * @returns {Part[]}
 */
function termCell(label, terms) {
  const { place, part, draft } = termTexts(label, terms);
  return [...(draft ? [{ key: "kv.draft", params: { part: "" } }] : []), { key: place }, " · ", { key: part }];
}

/**
 * Where the numbers of a kind come from: the model's own, and what is assumed of a kind that is not its own.
 *
 * @param {Card} card
 * @param {Answer["kinds"][number]} row
 * @returns {Part[]}
 */
function kindSource(card, { kind, own, assumed, latent, head_dim, n_kv_heads: kv }) {
  const read = sourceCell(card);
  if (assumed && latent)
    return [...read, "; ", { key: "kv.mla_assumed", params: { head_dim, latent: latent[0], rope: latent[1] } }];
  return kind === "GQA" && !own ? [...read, "; ", { key: "kv.gqa_assumed", params: { kv } }] : read;
}

/**
 * The products, their sum, and the products of the same shape under every kind of attention. The model's own are of
 * all GPUs together; the kinds are counted on one, whatever the model is shared out over.
 *
 * @param {Answer} answer
 * @returns {import("./reading.js").AnswerTable}
 */
function productsOf({ card, tokens, batch, dtype, tp, pp, gpus, terms, kinds, bytes }) {
  const read = sourceCell(card);
  /** @type {[what: Cell, product: Part[], bytes: string, source: Part[]][]} */
  const rows = terms.map((term) => [termCell(term.label, terms), productCell(term), term.bytes, read]);
  rows.push([gpus > 1 ? { key: "kv.saved_total_gpus", params: { gpus } } : { key: "kv.saved_total" }, [], bytes, read]);
  const shared = rows.length; // the rows up to here
  for (const row of kinds) {
    const { kind, terms: own, bytes: all } = row;
    if (all && own) {
      const products = own.flatMap((one, i) => [i ? " + " : "", ...productCell(one)]);
      rows.push([{ key: "kv.saved_as", params: { kind } }, products, all, kindSource(card, row)]);
    }
  }
  const each = (/** @type {Cell} */ cell) => rows.map(() => cell);
  const ofShared = (/** @type {number} */ ranks) => rows.map((_, i) => (i < shared ? ranks : 1));
  return {
    keys: {
      model: each(calledCell(card)),
      tokens: each(tokens),
      batch: each(batch),
      dtype: each(dtype),
      tp: ofShared(tp),
      pp: ofShared(pp),
      what: rows.map(([what]) => what),
      product: rows.map(([, product]) => product),
    },
    columns: { bytes: rows.map(([, , count]) => counted(count)), source: rows.map(([, , , source]) => source) },
  };
}

/**
 * What a token adds, up to token `until`; null: however many there are.
 *
 * @typedef {{ until: number | null; terms: Product[]; bytes: string }} Rate
 */

/**
 * One rate, or several where a window drops older tokens once it is full.
 *
 * @param {Answer} answer
 * @returns {Rate[]}
 */
function ratesOf({ per_token, growth }) {
  if (!growth) return [{ until: null, terms: [], bytes: per_token }];
  const sum = (/** @type {Product[]} */ terms) => terms.reduce((all, { bytes }) => all + BigInt(bytes), 0n);
  return growth.phases.map(({ until, terms }) => ({ until, terms, bytes: String(sum(terms)) }));
}

/**
 * The bytes of a cache and how they come about.
 *
 * @typedef {import("./reading.js").AnswerReading & { answer: Answer; rates: Rate[] }} CacheReading
 * @param {Answer} answer
 * @returns {CacheReading}
 */
export function readCache(answer) {
  const { model, tokens, batch, dtype, bytes } = answer;
  return {
    answer,
    rates: ratesOf(answer),
    at: `${model} tokens=${tokens} batch=${batch} dtype=${dtype}`,
    values: { bytes: counted(bytes) },
    whole: ["bytes"],
    rows: { products: () => productsOf(answer) },
  };
}
