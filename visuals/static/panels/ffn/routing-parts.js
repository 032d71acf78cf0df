// Tables of the panel on routing: the ways to route beside each other, and the balance loss expert by expert.

import { line, percent as inPercent, shown, strong } from "../../dom.js";
import { writtenOut } from "../../equation.js";
import { html } from "../../vendor/lit-html.js";
import { oneLine } from "../../one-line.js";

/** @typedef {import("../../readings/routing-kinds.js").RoutingReading} RoutingReading */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

/** A share in per cent, to two digits, from 100% on to three. @param {number} share */
export const percent = (share) => inPercent(share, share >= 1 ? 3 : 2);

/**
 * @param {string} look
 * @param {string[]} heads
 * @param {Text} text
 * @param {object} rows
 */
const table = (look, heads, text, rows) => html`
  <table class="gp-table ${look}">
    <thead>
      <tr>
        ${heads.map(
          (name, i) =>
            html`<th
              scope="col"
              class=${i && name !== "experts" ? "" : "is-left"}
              .textContent=${text(`head_${name}`)}
            ></th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>
`;

/**
 * Every way to route: where it sends the token, and what it changes.
 *
 * @param {RoutingReading} reading
 * @param {Text} text
 */
export function schemesTable({ found, means, scheme, selection: { query } }, text) {
  const rows = found.schemes.map(({ name, chosen, weight, change }) => {
    const count = chosen.shape[1];
    const at = Array.from({ length: count }, (_, i) => query * count + i);
    const where = at.map((i) => `${chosen.data[i]} (${shown(weight.data[i], 2)})`).join(", ");
    return html`
      <tr class=${name === scheme.name ? "is-chosen" : ""}>
        <th class="gp-token" scope="row" .textContent=${text(`scheme_${name}`)}></th>
        <td class="gp-number">${count}</td>
        <td class="ffn-words">${where}</td>
        <td class="gp-number">${name === "own" ? "–" : percent(change.data[query])}</td>
        <td class="gp-number">${name === "own" ? "–" : percent(means[name])}</td>
      </tr>
    `;
  });
  return table("ffn-schemes", ["scheme", "k", "experts", "change", "mean"], text, rows);
}

/** f and P of each expert. @param {RoutingReading} reading @param {Text} text */
export function balanceTable({ balance }, text) {
  const most = Math.max(...balance.map(({ f, p }) => f * p)) || 1;
  const rows = balance.map(
    ({ expert, f, p }) => html`
      <tr>
        <th class="gp-token" scope="row">${expert}</th>
        <td class="gp-number">${shown(f, 3)}</td>
        <td class="gp-number">${shown(p, 3)}</td>
        <td class="gp-number">${shown(f * p, 3)}</td>
        <td class="ffn-track"><span class="ffn-bar" style=${`width: ${(100 * f * p) / most}%`}></span></td>
      </tr>
    `,
  );
  return table("ffn-balance", ["balance_expert", "f", "p", "fp", "bar"], text, rows);
}

/** The balance loss with its numbers. @param {RoutingReading} reading @param {Text} text */
export function balanceSum({ found: { alpha }, experts, sums: { first, every } }, text) {
  /** @param {number} times */
  function sum(times) {
    const said = writtenOut(
      { part: times / experts, loss: alpha * times },
      [["loss", ["part"], (x) => alpha * experts * x]],
      { digits: 4 },
    );
    return [`${alpha} × ${experts} × ${said.part} = `, strong(said.loss)];
  }
  return [
    line`α · N · Σ f · P = ${sum(first)}`,
    line`${text("balance_best")} α · N · N · 1/N² = α = ${String(alpha)}`,
    line`${text("balance_every")} ${sum(every)}`,
  ];
}

/** What is to be noticed. @param {RoutingReading} reading @param {Text} text */
export function notice({ means, experts, second, scheme: { chosen }, found: { schemes } }, text) {
  const count = schemes[0].chosen.shape[1];
  const [one, two] = [percent(means.switch), percent(means.gshard ?? NaN)];
  const said = { tokens: chosen.shape[0], experts, count, one, two, second: percent(second) };
  return text(count === 2 ? "notice_two" : "notice", said);
}

/**
 * How many slots there are, and who finds none.
 *
 * @param {RoutingReading} reading
 * @param {string} piece the selected token's
 * @param {Text} text
 */
export function roomText({ scheme, experts, slots: room, dropped, selection: { query, factor } }, piece, text) {
  const [tokens, count] = scheme.chosen.shape;
  const sum = `⌈${count} × ${tokens} / ${experts} × ${factor}⌉ = ${room}`;
  const said = { sum, choices: dropped.choices, all: count * tokens, none: dropped.tokens.length };
  const lost = { token: query, piece, lost: percent(dropped.change[query]) };
  return oneLine([text("room", said), dropped.choices ? text("lost", lost) : ""]);
}

/** How much passes between devices. @param {RoutingReading} reading @param {Text} text */
export function exchangeText({ sent, selection: { devices } }, text) {
  const all = sent.flat().reduce((sum, x) => sum + x, 0);
  const stay = sent.reduce((sum, row, i) => sum + row[i], 0);
  return text("exchange_says", { devices, all, away: all - stay, share: percent((all - stay) / all) });
}
