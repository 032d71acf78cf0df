// What ReLU, GELU, GLU and the others would make of this token's own gate and up values: how many neurons fall silent,
// how steep the function is there, and how much of what the layer writes would change.

import { BENDS } from "../../activations.js";
import { strongest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { choices } from "../../controls.js";
import { h, line, percent as inPercent, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { bracketed, writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { neuronName } from "../../neuron-names.js";
import { inWidth, widthOf } from "../../pointing.js";
import { activationKinds as reader, TEXTBOOK } from "../../readings/activations.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { drawBend, drawErrors } from "./bend-charts.js";
import { ffnForms, kindOf } from "../../readings/ffn-kinds.js";
import { drawnOf } from "../../readings/neurons.js";

/** @typedef {import("../../readings/activations.js").KindsReading} KindsReading */
/** @typedef {import("../../readings/activations.js").KindRow} KindRow */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "activation-kinds";
/** A share in per cent, to two digits, from 100% on to three; the texts have the sign. @param {number} share */
const percent = (share) => inPercent(share, share >= 1 ? 3 : 2).replace("%", "");

/** @param {{ layer: number; query: number }} place */
const select = ({ layer, query }) => ({ layer, query });

export const about = {
  tensors: ["gate", "up", "ffn_out"],
  forms: ffnForms,
  difference: {
    reader,
    select: (/** @type {Glass} */ { state }) => select(state),
    said: ["closed"],
    without: "b_minus_a.without_curve",
    parts: [
      {
        draw: "table",
        rows: "kinds",
        column: "change",
        title: "kinds_change",
        heading: "kind",
        name: (/** @type {{ key: { kind: string }; glass: Glass }} */ { key, glass }) =>
          glass.text(`${KIND}.kind_${key.kind}`),
        step: 1,
        wordy: true,
      },
    ],
  },
};

/**
 * What this token's neurons read: all of them where they are here, else the strongest.
 *
 * @param {NonNullable<ReturnType<Glass["layer"]>>} held
 * @param {number} token
 * @param {number | null} neuron
 * @param {Glass["text"]} text
 */
function neuronsAt(held, token, neuron, text) {
  const all = held.neurons.get(token);
  const { reads, act } = kindOf(held.ffn);
  const name = (/** @type {number} */ number) => neuronName(held.ffn, number, text);
  if (all) {
    const drawn = drawnOf(all);
    const place = neuron === null ? -1 : drawn.place(neuron);
    const [best] = strongest(drawn.product, 1);
    const at = place < 0 ? best : place;
    const read = /** @type {ArrayLike<number>} */ (reads === "gate" ? drawn.gate : drawn.up);
    const up = drawn.gate ? drawn.up[at] : null;
    return { reads, act, points: read, at: read[at], up, name: name(drawn.of(at)) };
  }
  const { top } = held;
  const count = top.neuron.shape[1];
  const from = token * count;
  const read = (reads === "gate" && top.gate ? top.gate : top.up).data.subarray(from, from + count);
  const up = top.gate ? top.up.data[from] : null;
  return { reads, act, points: read, at: read[0], up, name: name(top.neuron.data[from]) };
}

/** How a kind is written. @param {KindRow} kind @param {string} reads */
const formula = ({ bends, gated }, reads) => {
  const { name } = BENDS[bends];
  const bent = bends === "gelu_sigmoid" ? `${reads}·σ(1.702·${reads})` : `${name}(${reads})`;
  return gated ? `${bent} ⊙ up` : bent;
};

/**
 * One neuron through the chosen function and through the network's own.
 *
 * @param {ReturnType<typeof neuronsAt>} read
 * @param {string[]} bends
 * @param {string} place its name in words
 */
function sums({ at, up }, bends, place) {
  return [...new Set(bends)].map((bend) => {
    const { name, f } = BENDS[bend];
    const values = { at, bent: f(at), up: up ?? NaN, product: f(at) * (up ?? NaN) };
    const said = writtenOut(
      values,
      [
        ["bent", ["at"], f],
        ["product", ["bent", "up"], (a, b) => a * b],
        ["product", ["at", "up"], (a, b) => f(a) * b],
      ],
      { digits: 4 },
    );
    const bent = tinted("gate", bend === "gelu_sigmoid" ? `${name}, x = ${said.at}` : `${name}(${said.at})`);
    if (up === null) return line`${place}   ${bent} = ${strong(said.bent)}`;
    const filled = [tinted("gate", bracketed(said.bent)), " × ", tinted("up", bracketed(said.up))];
    return line`${place}   ${bent} × ${tinted("up", "up")} = ${filled} = ${strong(said.product)}`;
  });
}

/**
 * The table's rows.
 *
 * @param {KindsReading} reading
 * @param {string} reads
 * @param {Text} text
 */
function rowsOf({ kinds, own, neurons }, reads, text) {
  const most = Math.max(...kinds.map(({ change }) => change || 0)) || 1;
  const heads = ["kind", "formula", "matrices", "zeros", "slope", "length", "change"];
  const bar = (/** @type {number} */ change) => `width: ${(100 * (change || 0)) / most}%`;
  return html`
    <table class="gp-table ffn-kinds">
      <thead>
        <tr>
          ${heads.map(
            (name, i) =>
              html`<th scope="col" class=${i < 2 ? "is-left" : ""} .textContent=${text(`head_${name}`)}></th>`,
          )}
          <th class="ffn-track" aria-hidden="true"></th>
        </tr>
      </thead>
      <tbody>
        ${kinds.map(
          (kind) => html`
            <tr class=${kind === own ? "is-chosen" : ""} data-textbook=${TEXTBOOK.includes(kind.name)}>
              <th class="gp-token" scope="row" .textContent=${text(`kind_${kind.name}`)}></th>
              <td class="ffn-form" lang="en" .textContent=${formula(kind, reads)}></td>
              <td class="gp-number">${kind.matrices}</td>
              <td
                class="gp-number"
                title=${kind.zeros}
                .textContent=${kind.zeros ? `${percent(kind.zeros / neurons)}%` : "0"}
              ></td>
              <td class="gp-number" .textContent=${shown(kind.slope, 3)}></td>
              <td class="gp-number" .textContent=${shown(kind.length, 3)}></td>
              <td class="gp-number" .textContent=${kind === own ? text("own") : `${percent(kind.change)}%`}></td>
              <td class="ffn-track"><span class="ffn-bar" style=${bar(kind.change)}></span></td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

/**
 * What is to be noticed in this run.
 *
 * @param {KindsReading} reading
 * @param {string} act the network's own activation
 * @param {string} piece
 * @param {Text} text
 */
function notice({ selection, kinds, neurons, closed }, act, piece, text) {
  const changeBy = (/** @type {string} */ name) => percent(kinds.find((kind) => kind.name === name)?.change ?? NaN);
  return text(act === "ReLU" ? "is_relu" : "notice", {
    token: selection.query,
    piece,
    closed,
    neurons,
    act,
    reglu: changeBy("reglu"),
    relu: changeBy("relu"),
    swish: changeBy("swish"),
  });
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function activationKinds(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"] });
  const [value, slope, errors] = ["value", "slope", "errors"].map((name) =>
    h("canvas.gp-canvas", { role: "img", "data-text-label": `${KIND}.chart_${name}` }),
  );
  const [left, right, below] = [h("div", null, value), h("div", null, slope), h("div", null, errors)];
  const bend = choices(glass, KIND, "bend", Object.keys(BENDS));
  const widths = [left, right, below].map((one) => widthOf(one, glass));
  const pieceAt = (/** @type {number} */ token) => visible(labelsOf(state.trace?.tokens.pieces ?? [])[token] ?? "");

  /** @type {(reading: KindsReading | null, read: ReturnType<typeof neuronsAt> | null) => object} null: not here yet */
  function view(reading, read) {
    if (!reading || !read)
      return html`${bend.element}
        <div class="gp-columns">${left}${right}</div>
        ${below}`;
    const { apart, own } = reading;
    const { act } = read;
    const at = panel.text("at", { neuron: read.name });
    const near = { tanh: percent(apart.tanh), sigmoid: percent(apart.sigmoid) };
    return html`
      <p class="wy-notice" .textContent=${notice(reading, act, pieceAt(reading.selection.query), panel.text)}></p>
      ${bend.element}
      <div class="gp-columns">${left}${right}</div>
      <div class="gp-formula" lang="en">${sums(read, [bend.now(), own.bends], at)}</div>
      <h3 class="gp-subtitle" .textContent=${panel.text("table_title")}></h3>
      <p class="gp-note" .textContent=${panel.text("table_note")}></p>
      <div class="gp-list ffn-all" tabindex="0" role="region" aria-label=${panel.text("table_title")}>
        ${rowsOf(reading, read.reads, panel.text)}
      </div>
      <div class="gp-columns">
        <div>
          <h3 class="gp-subtitle" .textContent=${panel.text("gelu_title")}></h3>
          <p .textContent=${panel.text("gelu", near)}></p>
          <p class="gp-note" .textContent=${panel.text("gelu_note")}></p>
        </div>
        ${below}
      </div>
    `;
  }

  render(view(null, null), panel.body);

  return inWidth(element, widthOf(panel.body, glass), function draw() {
    const held = glass.layer();
    const reading = held && readHere(glass, reader, select(state), select(state.locked));
    element.classList.toggle("is-coming", !reading);
    if (!held || !reading) return undefined;
    const read = neuronsAt(held, reading.selection.query, state.neuron, glass.text);
    const bends = { chosen: bend.now(), own: reading.own.bends };
    drawBend(value, widths[0](), "f", bends, read);
    drawBend(slope, widths[1](), "slope", bends, read);
    drawErrors(errors, widths[2](), read);
    return () => {
      const { layer, query } = reading.selection;
      panel.title.textContent = panel.text("title", { layer, token: query, piece: pieceAt(query) });
      render(view(reading, read), panel.body);
      bend.show();
      const zeros = reading.kinds.find(({ bends: name, gated }) => name === bend.now() && gated === reading.own.gated);
      panel.show(
        reading,
        panel.text("read", {
          bend: zeros ? formula(zeros, read.reads) : BENDS[bend.now()].name,
          zeros: zeros?.zeros ?? 0,
          neurons: reading.neurons,
          change: zeros ? percent(zeros.change) : "–",
        }),
      );
    };
  });
}
