// The answer about one GPU: its memory as a bar, the largest batch and context, the bound, and the weights' sum.

import { oneLine } from "../../one-line.js";
import { remarkIn } from "../../remark.js";
import { html, nothing } from "../../vendor/lit-html.js";
import { boundFact, largestFact } from "./fit-facts.js";
import { both, exactBytes, scaled, weightName, whole } from "./format.js";
import { apiOf, memoryBar } from "./memory-bar.js";
import { titled } from "./product.js";

/**
 * @typedef {import("../../readings/kv-fit.js").FitReading} Reading
 *
 * @typedef {import("../../readings/kv-fit.js").Fit} Fit
 *
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 */

/**
 * Whether it fits, and what is free or missing.
 *
 * @param {Fit["use"]} use
 * @param {Say} text of the section "kv-fit"
 */
function verdict({ fits, free, gpu, gpus, stated_free: stated }, text) {
  const which = gpus > 1 ? "" : "_one"; // there is no fullest of one
  const words = fits ? text("fits") : text(`lacks${which}`, { bytes: both(free.replace("-", "")) });
  const left = fits ? ` ${text(`free${which}`, { bytes: both(free) })}` : "";
  const border = fits && stated?.startsWith("-");
  const told = {
    name: gpu.name,
    reported: whole(gpu.reported),
    in: gpu.reported_in,
    reporter: gpu.reporter,
    stated: scaled(gpu.stated, "decimal"),
    lacking: both((stated ?? "0").replace("-", "")),
  };
  return html`<p class="kv-total kv-fits"><strong .textContent=${words}></strong><span .textContent=${left}></span></p>
    ${border ? html`<p class="kv-border" .textContent=${text("border", told)}></p>` : nothing}`;
}

/**
 * That vLLM's own rule, with the share that it takes by default, finds no room for what fits line by line.
 *
 * @param {Fit["use"]} use
 * @param {Say} text of the section "kv-fit"
 */
function defaultView({ fits, vllm_default: left }, text) {
  if (!fits || !left?.free.startsWith("-")) return nothing;
  const told = { share: left.percent / 100, bytes: both(left.free.slice(1)) };
  return html`<p class="kv-border kv-vllm-default" .textContent=${text("vllm_default", told)}></p>`;
}

/**
 * That the GPU has no bf16 for the K and V that are counted in it.
 *
 * @param {Fit["use"]} use
 * @param {Say} text of the section "kv-fit"
 */
const bf16View = ({ lacks_bf16: lacking, gpu: { name } }, text) =>
  lacking ? html`<p class="kv-border kv-no-bf16" .textContent=${text("no_bf16", { name })}></p>` : nothing;

/**
 * How a config.json says that the weights are stored, or why that is not counted, what they are counted in, and
 * whether MTP layers are left out.
 *
 * @param {Glass} glass
 * @param {Fit["use"]} use
 */
function storedView({ state, text }, { stored, weights_in: format, format_unknown: unknown, ...use }) {
  const said = stored.map((one) => oneLine([remarkIn(one, state.language), text("kv-fit.counted_in", { format })]));
  if (unknown) said.push(text("kv-fit.format_unknown", { format }));
  const { without_mtp: mtp, all_weights: counted } = use;
  if (mtp !== null && counted !== null) {
    const all = scaled(BigInt(counted) + BigInt(mtp), "decimal");
    said.push(text("kv-fit.without_mtp", { bytes: scaled(mtp, "decimal"), all }));
  }
  return said.map((one) => html`<p class="gp-note kv-stored" .textContent=${one}></p>`);
}

/**
 * That the weights are as their bytes were given, and where these are far fewer than the config makes, that too:
 * what fits may then be a part of the model.
 *
 * @param {Fit["use"]} use
 * @param {Say} text of the section "kv-fit"
 */
function measuredView({ measured, all_weights: counted, weights_in: format, gpus }, text) {
  if (measured === null) return nothing;
  const given = text(counted === null ? "measured_alone" : "measured", {
    bytes: exactBytes(measured),
    both: both(measured),
  });
  const spread = counted === null && gpus > 1 ? text("measured_spread") : "";
  const few = counted !== null && 2n * BigInt(measured) < BigInt(counted);
  const warning = few ? text("measured_few", { format, counted: both(counted) }) : "";
  return html`<p class="gp-note kv-measured" .textContent=${oneLine([given, spread])}></p>
    ${warning ? html`<p class="kv-border kv-few" .textContent=${warning}></p>` : nothing}`;
}

/**
 * The weights as the sum of their terms.
 *
 * @param {Glass} glass
 * @param {Fit["use"]} use
 * @param {import("./format.js").Named} factor
 */
function weightsView(glass, use, factor) {
  const { weight_terms, all_weights, measured, output_in: output, output_source: source } = use;
  if (all_weights === null) return nothing;
  const sum = { bytes: exactBytes(all_weights), both: both(all_weights) };
  const kept = output && glass.text("kv-fit.output_in", { format: output, source });
  return html`<div>
    ${kept ? html`<p class="gp-note kv-output" .textContent=${kept}></p>` : nothing}
    <details class="kv-source">
      <summary .textContent=${glass.text(measured ? "kv-fit.weights_unused" : "kv-fit.weights_sum", sum)}></summary>
      ${weight_terms.map(({ label, factors, bytes }) => titled(weightName(glass.text, label), factors, factor, bytes))}
    </details>
  </div>`;
}

/**
 * The sum that decides, with exact bytes: memory less weights and cache, and by lines less each of these.
 *
 * @param {Fit} fit
 * @param {Say} text of the section "kv-fit"
 */
function sumText({ use, beside }, text) {
  const percent = use.by !== "lines" || use.percent < 100;
  const memory = exactBytes(use.gpu.memory);
  return text(`sum_${use.by}`, {
    api: apiOf(use),
    memory: percent ? `${memory} × ${use.percent}%` : memory,
    weights: exactBytes(use.weights),
    cache: exactBytes(use.cache),
    activations: exactBytes(beside.activation_bytes),
    context: exactBytes(beside.context),
    fragmentation: exactBytes(beside.left),
    graphs: exactBytes(use.vllm.graphs),
    room: exactBytes(use.vllm.room).replace("-", "−"),
    free: exactBytes(use.free).replace("-", "−"),
  });
}

/**
 * Which text says where an amount is from: the context's figure is CUDA's, and stands in for others' that are not
 * known.
 *
 * @param {string} name of the amount
 * @param {Fit["use"]["gpu"]} gpu
 */
const sourceOf = (name, { interface: api }) => (name === "context" && api && api !== "CUDA" ? "_cuda" : "");

/** Amounts that are set in MiB. */
const IN_MIB = ["context", "fragmentation"];

/**
 * That a share for weights and cache is not vLLM's, and what vLLM's own rule would leave.
 *
 * @param {Fit["use"]["vllm"]} vllm
 * @param {Say} text of the section "kv-fit"
 */
function stricterView({ free }, text) {
  const told = { bytes: both(free.replace("-", "")) };
  const words = text(free.startsWith("-") ? "strict_lacks" : "strict_leaves", told);
  return html`<p class="gp-note kv-strict" .textContent=${words}></p>`;
}

/**
 * The cache in vLLM's whole blocks, or why these are not counted, and what is left.
 *
 * @param {Fit["use"]} use
 * @param {{ tokens: number; batch: number }} asked
 * @param {Say} text of the section "kv-fit"
 */
function blocksView({ pp, cache, vllm: { free, room, blocks, uncounted } }, { tokens, batch }, text) {
  const left = { room: exactBytes(room).replace("-", "−"), free: exactBytes(free).replace("-", "−") };
  const inBlocks = blocks && {
    ...{ room: left.room, batch: whole(batch), tokens: whole(tokens), size: whole(blocks.size) },
    ...{ each: exactBytes(blocks.each), count: whole(blocks.count), rest: exactBytes(blocks.rest) },
    ...{ per_sequence: whole(blocks.per_sequence), needed: whole(blocks.needed) },
  };
  const sum = inBlocks
    ? text("sum_vllm_blocks", { ...inBlocks, free: left.free })
    : text("sum_vllm_bytes", { ...left, cache: exactBytes(cache) });
  const notes = blocks ? [text(`block_size_${blocks.size_from}`, { size: whole(blocks.size) })] : [];
  if (blocks && pp > 1) notes.push(text("strict_blocks_fewest"));
  return html`<p class="kv-sum kv-blocks-sum" .textContent=${sum}></p>
    <ul class="kv-log-steps">
      <li data-line="strict_blocks">
        <strong .textContent=${text("strict_blocks")}></strong>
        <span
          class="gp-note"
          .textContent=${inBlocks ? text("strict_blocks_says", inBlocks) : text(`strict_blocks_${uncounted}`)}
        ></span>
        ${notes.map((words) => html`<span class="gp-note" .textContent=${words}></span>`)}
      </li>
    </ul>`;
}

/**
 * What the memory that weights and cache may not take is for, line by line, and the products of the activations.
 *
 * @param {Fit} fit
 * @param {Reading["kept"]} kept
 * @param {import("./format.js").Named} factor
 * @param {Say} text of the section "kv-fit"
 * @param {string} comma between names
 */
function keptBackView(
  { use, beside: { kept_back, step_tokens: tokens, activations, lacking } },
  kept,
  factor,
  text,
  comma,
) {
  const usual = use.gpu.interface === "Metal" && tokens === use.gpu.step_tokens;
  const step = usual ? text("kept_activations_step", { tokens: whole(tokens) }) : "";
  /** @param {Reading["kept"][number]} amount */
  function line([name, bytes]) {
    const mebibytes = whole(BigInt(bytes) >> 20n);
    const set = IN_MIB.includes(name) ? `${mebibytes} MiB = ${mebibytes} × 1,048,576 B · ` : "";
    const says = text(`kept_${name}_says${sourceOf(name, use.gpu)}`, { percent: use.percent, api: apiOf(use) });
    return html`<li data-line=${name}>
      <strong .textContent=${text(`kept_${name}`, { api: apiOf(use) })}></strong>
      <span class="kv-log-bytes" .textContent=${scaled(bytes, "binary")}></span>
      <span class="gp-note" .textContent=${set + says + (name === "activations" ? step : "")}></span>
    </li>`;
  }
  const without = lacking.length ? text("lacking", { fields: lacking.join(comma) }) : "";
  return html`<div class="kv-kept-back">
    <h4 .textContent=${text(`kept_title_${use.by}`, { bytes: both(kept_back) })}></h4>
    ${without ? html`<p class="gp-note kv-lacking" .textContent=${without}></p>` : nothing}
    <ul class="kv-log-steps">
      ${kept.map(line)}
    </ul>
    <details class="kv-kept-products">
      <summary .textContent=${text("kept_products")}></summary>
      ${activations.map(({ label, factors, bytes }) => titled(text(`kept_${label}`), factors, factor, bytes))}
    </details>
  </div>`;
}

/**
 * The bytes of the input embedding's table, of which a step reads a row for each sequence, of the files' bytes its
 * share, which is assumed; "0" where all of it is read, as the output.
 *
 * @param {Fit["use"]} use
 */
function unreadTable({ measured, all_weights: counted, weight_terms: terms }) {
  const table = BigInt(terms.find(({ label }) => label === "embedding")?.bytes ?? 0);
  return String(measured === null || counted === null ? table : (table * BigInt(measured)) / BigInt(counted));
}

/**
 * Whose figure the GPU's memory is: its driver's or its datasheet's.
 *
 * @param {Fit["use"]["gpu"]} gpu
 * @param {Say} text of the section "kv-fit"
 */
function memoryNote({ memory, reported, reported_in, reporter, stated, interface: api }, text) {
  if (stated === "0") return nothing;
  const shared = api === "Metal"; // whose GB are GiB
  const told = {
    reported: whole(reported),
    in: reported_in,
    reporter,
    bytes: exactBytes(memory),
    stated: scaled(stated, shared ? "binary" : "decimal"),
  };
  const words = text(shared ? "shared" : reported ? "reported" : "unreported", told);
  return html`<p class="gp-note kv-reported" .textContent=${words}></p>`;
}

/**
 * @param {Glass} glass
 * @param {Reading} reading
 * @param {{ tokens: number; batch: number }} asked
 */
export function fitView(glass, { fit, pieces, kept }, { tokens, batch: sequences }) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv-fit.${name}`, params);
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => glass.text(`kv.factor_${code}`, params);
  if (!fit) return nothing;
  const { use, batch, context, bound } = fit;
  const source = remarkIn(use.gpu.source, glass.state.language);
  return html`${verdict(use, text)} ${bf16View(use, text)} ${defaultView(use, text)}
    ${use.by === "share" ? stricterView(use.vllm, text) : nothing} ${measuredView(use, text)} ${storedView(glass, use)}
    ${memoryBar(fit, pieces, text)}
    <p class="kv-sum kv-fit-sum" .textContent=${sumText(fit, text)}></p>
    ${use.by === "vllm" ? blocksView(use, { tokens, batch: sequences }, text) : nothing}
    <div class="kv-facts">
      ${largestFact(glass, batch, text("largest_batch", { tokens: whole(tokens) }), "sequences", use)}
      ${largestFact(glass, context, text("largest_context", { batch: whole(sequences) }), "tokens", use)}
      ${boundFact(bound, sequences, { table: unreadTable(use), assumed: use.measured !== null }, text)}
    </div>
    ${keptBackView(fit, kept, factor, text, glass.text("kv.list_comma"))} ${weightsView(glass, use, factor)}
    <p class="gp-note" .textContent=${text("source", { source })}></p>
    ${memoryNote(use.gpu, text)}`;
}
