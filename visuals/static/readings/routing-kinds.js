// A layer's tokens routed in other ways; which of them find no slot in an expert; the loss that keeps experts in
// balance; and who sends how many tokens to whom where the experts lie on several devices.

/**
 * @typedef {import("../decoded.d.ts").Detail<"routing_kinds">} Found
 *
 * @typedef {Found["schemes"][number]} Scheme
 *
 * @typedef {object} RoutingSelection
 * @property {number} layer
 * @property {number} query
 * @property {string} scheme whose slots and exchange are drawn
 * @property {number} factor of the capacity
 * @property {number} devices
 *
 * @typedef {{ token: number; choice: number; kept: boolean }} Guest a token at an expert, in the order of coming;
 *   `choice` 0 is its first
 *
 * @typedef {{ expert: number; f: number; every: number; p: number }} BalanceRow `f` the share of tokens whose most
 *   probable expert it is, `every` the share with all choices counted and divided by k, `p` the mean probability
 *
 * @typedef {import("./reading.js").Reading<RoutingSelection> & {
 *   found: Found;
 *   scheme: Scheme;
 *   experts: number;
 *   slots: number;
 *   guests: Guest[][];
 *   dropped: { choices: number; tokens: number[]; change: Float64Array };
 *   balance: BalanceRow[];
 *   sums: { first: number; every: number };
 *   sent: number[][];
 *   means: Object<string, number>;
 *   second: number;
 * }} RoutingReading
 *   `second`: the share of the weights that the second choice has, in the mean; `guests` by expert; `dropped`:
 *   choices without a slot, tokens without any expert left, and by token how much of what the layer writes is lost;
 *   `sums`: N·Σ f·p of both; `sent`: choices from device to device
 */

/**
 * Slots of an expert, ⌈k · tokens / experts · factor⌉ (model/replaced/capacity.py).
 *
 * @param {number} tokens
 * @param {number} experts
 * @param {number} count k
 * @param {number} factor
 */
export const slotsOf = (tokens, experts, count, factor) => Math.ceil(((count * tokens) / experts) * factor);

/**
 * Who comes to each expert, all first choices before any second one.
 *
 * @param {Scheme["chosen"]} chosen
 * @param {number} experts
 * @param {number} slots
 * @returns {Guest[][]}
 */
export function guestsOf({ shape: [tokens, count], data }, experts, slots) {
  /** @type {Guest[][]} */
  const found = Array.from({ length: experts }, () => []);
  for (let choice = 0; choice < count; choice++)
    for (let token = 0; token < tokens; token++) {
      const here = found[data[token * count + choice]];
      here.push({ token, choice, kept: here.length < slots });
    }
  return found;
}

/**
 * What is lost with those that find no slot: √(Σ gram of a token's lost choices) / what the layer writes for it.
 *
 * @param {Scheme} scheme
 * @param {Guest[][]} guests
 */
function lossOf({ chosen, gram, length, shared }, guests) {
  const [tokens, count] = chosen.shape;
  const lost = guests.flat().filter(({ kept }) => !kept);
  /** @type {number[][]} */
  const by = Array.from({ length: tokens }, () => []);
  for (const { token, choice } of lost) by[token].push(choice);
  const change = Float64Array.from(by, (choices, token) => {
    let sum = 0;
    for (const i of choices) for (const j of choices) sum += gram.data[(token * count + i) * count + j];
    return Math.sqrt(Math.max(0, sum)) / length.data[token];
  });
  const none = by.flatMap((choices, token) => (choices.length === count ? [token] : []));
  return { choices: lost.length, tokens: none, change, shared };
}

/**
 * What the balance loss is made of, expert by expert.
 *
 * @param {Found} found
 * @returns {BalanceRow[]}
 */
export function balanceOf({ schemes: [own], probabilities: { shape, data } }) {
  const [tokens, experts] = shape;
  const count = own.chosen.shape[1];
  const rows = Array.from({ length: experts }, (_, expert) => ({ expert, f: 0, every: 0, p: 0 }));
  for (let token = 0; token < tokens; token++) {
    for (let i = 0; i < count; i++) rows[own.chosen.data[token * count + i]].every += 1 / (count * tokens);
    const row = data.subarray(token * experts, (token + 1) * experts);
    rows[row.indexOf(Math.max(...row))].f += 1 / tokens; // a bias for balance may put another first
    row.forEach((p, e) => (rows[e].p += p / tokens));
  }
  return rows;
}

/**
 * From which device to which choices go: tokens are split evenly in their order, and so are experts.
 *
 * @param {Scheme["chosen"]} chosen
 * @param {number} experts
 * @param {number} devices
 */
export function sentBetween({ shape: [tokens, count], data }, experts, devices) {
  const sent = Array.from({ length: devices }, () => Array.from({ length: devices }, () => 0));
  for (let i = 0; i < data.length; i++) {
    const from = Math.floor((Math.floor(i / count) * devices) / tokens);
    sent[from][Math.floor((data[i] * devices) / experts)] += 1;
  }
  return sent;
}

/**
 * What the second choice has of the weights, in the mean; 0 where there is none.
 *
 * @param {Scheme} scheme
 */
function secondOf({ weight: { shape, data } }) {
  const [tokens, count] = shape;
  if (count < 2) return 0;
  const rows = Array.from({ length: tokens }, (_, t) => Array.from(data.subarray(t * count, (t + 1) * count)));
  return mean(rows.map((row) => row[1] / row.reduce((sum, x) => sum + x, 0)));
}

/** @param {ArrayLike<number>} values */
const mean = (values) => Array.from(values).reduce((sum, x) => sum + x, 0) / values.length;

/**
 * A row for each token and scheme.
 *
 * @param {Found} found
 * @returns {import("./reading.js").Table}
 */
function tableOf({ schemes }) {
  const tokens = schemes[0].chosen.shape[0];
  const rows = schemes.flatMap((scheme) => Array.from({ length: tokens }, (_, token) => ({ scheme, token })));
  /** @type {(row: { scheme: Scheme; token: number }) => string} */
  const experts = ({ scheme: { chosen, weight }, token }) => {
    const count = chosen.shape[1];
    const at = Array.from({ length: count }, (_, i) => token * count + i);
    return at.map((i) => `${chosen.data[i]}:${weight.data[i].toPrecision(6)}`).join(" ");
  };
  return {
    keys: {
      scheme: rows.map(({ scheme }) => scheme.name),
      token: rows.map(({ token }) => token),
      experts_and_weights: rows.map(experts),
    },
    columns: {
      length: rows.map(({ scheme, token }) => scheme.length.data[token]),
      change: rows.map(({ scheme, token }) => scheme.change.data[token]),
    },
  };
}

/** @type {import("./reading.js").Reader<RoutingReading>} */
export const routingKinds = {
  needs: (_trace, { layer }) => ({ found: ["routing_kinds", { layer }] }),
  read({ details }, selection) {
    /** @type {Found} */
    const found = details.found;
    const { layer, query, factor, devices } = selection;
    const scheme = found.schemes.find(({ name }) => name === selection.scheme) ?? found.schemes[0];
    const [tokens, experts] = found.probabilities.shape;
    const slots = slotsOf(tokens, experts, scheme.chosen.shape[1], factor);
    const guests = guestsOf(scheme.chosen, experts, slots);
    const dropped = lossOf(scheme, guests);
    const balance = balanceOf(found);
    const total = (/** @type {"f" | "every"} */ name) =>
      experts * balance.reduce((sum, row) => sum + row[name] * row.p, 0);
    const sums = { first: total("f"), every: total("every") };
    const means = Object.fromEntries(found.schemes.map(({ name, change }) => [name, mean(change.data)]));
    return {
      selection: { ...selection, scheme: scheme.name },
      found,
      scheme,
      experts,
      slots,
      guests,
      dropped,
      balance,
      sums,
      sent: sentBetween(scheme.chosen, experts, devices),
      means,
      second: secondOf(found.schemes[0]),
      at: `layer ${layer} token ${query} scheme ${scheme.name} factor ${factor} devices ${devices}`,
      digits: 7,
      values: {
        ...means,
        second: secondOf(found.schemes[0]),
        slots,
        choices_dropped: dropped.choices,
        tokens_dropped: dropped.tokens.length,
        lost: dropped.change[query],
        lost_mean: mean(dropped.change),
        loss_first: found.alpha * sums.first,
        loss_every: found.alpha * sums.every,
      },
      rows: { schemes: () => tableOf(found) },
    };
  },
};
