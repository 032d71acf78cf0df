// Where q, k and v come from: x → the norm of x → · W_Q, and one row of that product taken apart, term by term.

import { segmented, stepper } from "../../controls.js";
import { exact, h, shown, signed } from "../../dom.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { normForms, ownKeys, turningForms } from "../../parts.js";
import { pointAt } from "../../pointed.js";
import { along, inWidth, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { word } from "../glance/words.js";
import {
  channelOf,
  chosenVector,
  clickedChannel,
  createFinder,
  fitsWhole,
  largestOf,
  madeName,
  setVector,
  sharers,
  takenApart,
  VECTORS,
} from "./projection.js";
import { createProducts, lines } from "./products.js";

const COUNT = 8;

export const about = {
  tensors: ["resid_in", "attn_norm_mean", "attn_norm_rms", "attn_normed", "q", "k", "v"],
  difference: "qkv",
  unused: "head",
  absent: ownKeys,
  forms: (model) => [...turningForms(model), ...normForms(model)],
};

/** The choice of q, k or v, one for all sides. */
export const createVectors = (glass) =>
  segmented(VECTORS, {
    label: "qkv.which",
    sign: (vector) => vector,
    title: (vector) => `qkv.which_${vector}`,
    look: "at-choice",
    choose: (vector) => setVector(glass, { vector, channel: "" }),
  });

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function qkv(element, glass) {
  const { state } = glass;
  let [now, apart, chosen] = [null, null, 0]; // what is drawn
  const csv = () => {
    const heads = ["layer", "vector", "head", "token", "channel", "input", "x", "normed", "weight", "product"];
    if (!now) return [heads];
    const { layer, vector, of, token } = now.place;
    const name = [layer, vector, of, token, chosen];
    const rows = Array.from(apart.terms, (term, i) => [...name, i, now.x[i], now.normed[i], apart.row[i], term]);
    return [heads, ...rows, ...(apart.bias === null ? [] : [[...name, "bias", "", "", "", apart.bias]])];
  };
  const panel = frame(element, glass, "qkv", { csv, parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const vectors = createVectors(glass);
  const channels = stepper((by) => keep(chosen + by), {
    label: "qkv.channel",
    back: "qkv.channel_back",
    on: "qkv.channel_on",
  });
  const largest = h("button.gp-option", { "data-text": "qkv.largest", click: () => setVector(glass, { channel: "" }) });
  const say = h("p.wy-notice", { "data-part": "notice" });
  const shared = h("p.gp-note");
  const [into, out] = ["inputs", "made"].map((name) => h("canvas.gp-canvas", { "data-text-label": `qkv.${name}` }));
  const formula = h("div.gp-formula", { lang: "en" });
  const products = createProducts(glass, COUNT);
  const find = createFinder(glass);
  const step = (name) => h("h3.gp-subtitle", { "data-text": `qkv.step_${name}` });
  panel.body.append(
    h("div.at-bar", { "data-part": "choices" }, vectors.element, channels.element, largest),
    say,
    shared,
    step("row"),
    into,
    step("made"),
    out,
    h("div.gp-columns", null, h("div", null, step("sum"), products.element), h("div", null, step("numbers"), formula)),
  );
  const [inputs, outputs] = [createStrips(into, { axis: true }), createStrips(out, { axis: true })];

  const keep = (channel) => now && setVector(glass, { channel: Math.max(0, Math.min(now.made.length - 1, channel)) });
  const overInput = pointAt(
    into,
    glass,
    (x) => (now ? inputs.find(x) : null),
    () => {},
  );
  const overMade = pointAt(out, glass, (x) => (now ? outputs.find(x) : null), keep);
  for (const canvas of [into, out])
    bindArrowKeys(
      canvas,
      glass,
      along(
        () => now?.made.length ?? 0,
        () => chosen,
        (channel) => (keep(channel), {}),
      ),
    );

  const drawInputs = memo((width, found, one, channel, input) => {
    const { vector } = found.place;
    const rows = [
      ["x", "residual", found.x],
      ["normed", "norm", found.normed],
      ["row", vector, one.row],
      ["products", "accent", one.terms],
    ];
    inputs.draw(
      width,
      rows.map(([name, role, values]) => ({
        name: text(`strip_${name}`, { vector, matrix: vector.toUpperCase(), channel }),
        role,
        values,
        bars: name === "products",
      })),
      { chosen: input },
    );
  });

  /** What is to be noticed, in words. */
  function notice({ place: { vector, token }, made }, { first, part: most, others, rest }) {
    const params = {
      vector,
      piece: word(state.trace.tokens.pieces[token]),
      channel: chosen,
      value: signed(made[chosen], 4),
      count: made.length,
      all: first.length + rest,
    };
    const of = {
      listed: first.length,
      rest,
      most: signed(most, 4),
      others: signed(others, 4),
      input: first[0],
      term: signed(apart.terms[first[0]], 4),
      all: params.all,
    };
    const few = Math.sign(most) === Math.sign(apart.products) && Math.abs(most) > Math.abs(others);
    return [
      text(clickedChannel(glass, made.length) === null ? "notice_largest" : "notice_chosen", params),
      text(few ? "notice_few" : "notice_many", of),
    ].join(" ");
  }

  function read(channel, input, { place, made, normed }) {
    const { vector, token } = place;
    if (input !== null)
      return text("read_input", {
        input,
        channel,
        matrix: vector.toUpperCase(),
        n: shown(normed[input], 5),
        w: shown(apart.row[input], 5),
        product: signed(apart.terms[input], 5),
      });
    return text("read", {
      vector,
      channel,
      piece: word(state.trace.tokens.pieces[token]),
      value: signed(made[channel], 5),
    });
  }

  function tell(found, { part: most, others }, input, channel) {
    const { layer, head, vector, of, token } = found.place;
    const more = apart.bias === null ? "" : ` bias=${exact(apart.bias)}`;
    const place = `layer ${layer} head ${head} ${vector} of ${of} token ${token} channel ${channel}`;
    const sums = `sum=${exact(apart.value, 7)} products=${exact(apart.products)}`;
    const parts = `listed=${exact(most)} others=${exact(others)}`;
    const term = input === null ? "" : ` input ${input} product=${exact(apart.terms[input])}`;
    panel.tell(
      `${place} value=${exact(found.made[channel])} ${sums} ${parts}${more}${term}`,
      read(channel, input, found),
    );
  }

  const write = memo((found, one, channel, _kept, _language) => {
    const {
      trace: { tokens, model },
    } = state;
    const { layer, vector, head, of, token } = found.place;
    panel.title.textContent = text(vector === "q" ? "title" : "title_kv", {
      vector,
      layer,
      head,
      of,
      piece: word(tokens.pieces[token]),
    });
    const all = sharers(model, of);
    shared.textContent =
      vector === "q"
        ? text("at_query")
        : text(all.length > 1 ? "at_key_shared" : "at_key", { vector, of, heads: all.join(", ") });
    const listed = largestOf(one, COUNT);
    say.textContent = notice(found, listed);
    products.draw(one, listed, found);
    formula.replaceChildren(...lines(found, one, channel, model, text, listed.first[0]));
    channels.show(String(channel), channel === 0, channel === found.made.length - 1);
    largest.hidden = clickedChannel(glass, found.made.length) === null;
  });

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    vectors.mark(chosenVector(glass));
    const found = find();
    element.classList.toggle("is-coming", !found);
    if (!found) return;
    const [pointed, input] = [overMade(), overInput() ?? products.pointed()];
    const under = pointed !== null && pointed < found.made.length ? pointed : channelOf(glass, found.made);
    // of a large head one row is here
    const channel = fitsWhole(state.trace.model) ? under : channelOf(glass, found.made);
    [now, chosen, apart] = [found, channel, takenApart(found, channel)];
    drawInputs(width, now, apart, channel, input);
    outputs.draw(
      width,
      [{ name: madeName(state.trace.model, found, text), role: found.place.vector, values: found.made }],
      { chosen: under },
    );
    write(now, apart, channel, clickedChannel(glass, found.made.length), state.language);
    tell(found, largestOf(apart, COUNT), input, under);
  });
}
