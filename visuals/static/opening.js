// What the page asks for when it opens or goes back to an address: what the link describes, or as much of it as there
// is.

import { outside } from "./link.js";
import { LOST } from "./unanswered.js";

const MOST_LAYERS = 1 << 16; // the server reads no larger number; it shows the last layer for one that is too large

/**
 * @typedef {import("./types.d.ts").RunRequest} RunRequest
 *
 * @typedef {import("./types.d.ts").Refusal} Refusal
 *
 * @typedef {import("./types.d.ts").RunPayload} RunPayload
 *
 * @typedef {ReturnType<typeof import("./link.js").readLink>} Link
 */

/**
 * @param {string} code
 * @param {Record<string, unknown>} params
 * @returns {Refusal}
 */
const message = (code, params) => ({ kind: "message", level: "error", code, params });

/**
 * What to ask for after a refusal: without the part of the link that was refused; null where nothing is left out
 * any more.
 *
 * @param {RunRequest} asked
 * @param {Refusal} refusal
 * @param {string} plain
 * @returns {RunRequest | null}
 */
function plainer(asked, { code }, plain) {
  if (code === "model_unknown" && asked.model) return { ...asked, model: undefined, generated: [] };
  if (code.startsWith("prompt_") && asked.prompt !== plain) return { ...asked, prompt: plain, generated: [] };
  if (asked.generated.length) return { ...asked, generated: [] };
  if (asked.prompt !== plain) return { ...asked, prompt: plain };
  return asked.model ? { ...asked, model: undefined } : null;
}

/**
 * The prompt to begin with where a link names none.
 *
 * @param {Pick<import("./messages.d.ts").PageConfig, "firstPrompts" | "firstOf">} config
 * @param {string | undefined} model of the link
 * @param {string} language
 */
export const firstPrompt = ({ firstPrompts, firstOf }, model, language) =>
  (model !== undefined && Object.hasOwn(firstOf, model) && firstOf[model]) || firstPrompts[language];

/**
 * The run that a link describes, or the nearest to it that can be run, and then what was wrong with the link.
 *
 * @param {Link} link
 * @param {string} plain the prompt where the link has none
 * @param {(described: RunRequest) => Promise<RunPayload | Refusal>} recall of fetching.js; it may fail
 * @returns {Promise<{ messages: (RunPayload | Refusal)[]; asked: RunRequest }>} `asked`: the request that was
 *   answered
 */
export async function openLink(link, plain, recall) {
  const { layer } = link.selection; // undefined where the link names none: the server then says where to start
  const given = link.prompt !== undefined;
  /** @type {RunRequest} */
  let asked = {
    prompt: given ? link.prompt : plain,
    model: link.model,
    generated: given ? link.generated : [],
    layer: layer === undefined ? undefined : Math.min(layer, MOST_LAYERS - 1),
  };
  /** @type {Refusal | null} */
  let refusal = null;
  for (;;) {
    const answer = await recall(asked).catch(() => LOST);
    if (answer.kind === "run") return { messages: [answer, ...wrong(link, answer, refusal)], asked };
    const refused = !answer.unanswered && answer.code !== "busy";
    const next = refused ? plainer(asked, answer, plain) : null;
    if (!next) return { messages: [answer], asked };
    refusal ??= answer;
    asked = next;
  }
}

/**
 * What is to be said of a link under the run that came of it: one message at most, the gravest.
 *
 * @param {Link} link
 * @param {RunPayload} run
 * @param {Refusal | null} refusal
 */
function wrong(link, { model, tokens }, refusal) {
  const beyond = outside(link, { model, T: tokens.ids.length });
  const more = beyond.find(({ field }) => field === "more") ?? link.faults[0];
  if (refusal && (refusal.code === "model_unknown" || refusal.code.startsWith("prompt_"))) return [refusal];
  if (more) return [message("link_left_out", { ...more, expected: more.expected ?? "0, 1, 2, …" })];
  if (refusal) return [message("link_other", { detail: refusal.params?.detail ?? refusal.code })];
  return beyond.length ? [message("link_nearest", beyond[0])] : [];
}
