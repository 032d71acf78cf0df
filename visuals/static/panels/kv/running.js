// The model that runs on the page, among those that the calculators know.

/** @typedef {import("./question.js").Catalogue["models"][number]} Card */

const SHAPE = /** @type {const} */ (["n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim"]);

/**
 * A name's letters and digits, without its owner on the Hub.
 *
 * @param {string} name
 */
const plain = (name) =>
  name
    .replace(/^.*\//, "")
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");

/**
 * The card of the model that runs: of its shape, and with the name that its own begins with; null where there is
 * none.
 *
 * @param {Pick<import("../../messages.d.ts").ModelMessage, (typeof SHAPE)[number] | "name"> | undefined} model
 * @param {Card[]} cards
 * @returns {Card | null}
 */
export function cardOfRunning(model, cards) {
  if (!model) return null;
  const alike = (/** @type {Card} */ card) =>
    SHAPE.every((name) => card[name] === model[name]) && plain(model.name).startsWith(plain(card.name));
  return cards.find(alike) ?? null;
}
