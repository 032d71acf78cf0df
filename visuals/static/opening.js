// What the page asks for when it opens or goes back to an address: what the link describes, or as much of it as there
// is.

import { outside } from "./link.js";
import { LOST } from "./unanswered.js";

const MOST_LAYERS = 1 << 16; // the server reads no larger number; it shows the last layer for one that is too large
const isMessage = ({ kind }) => kind === "message";
const message = (code, params) => ({ kind: "message", level: "error", code, params });

/**
 * What to ask for after a refusal: without the part of the link that was refused; null where nothing is left out
 * any more.
 */
function plainer(asked, { code }, plain) {
  if (code === "model_unknown" && asked.model) return { ...asked, model: undefined, generated: [] };
  if (code.startsWith("prompt_") && asked.prompt !== plain) return { ...asked, prompt: plain, generated: [] };
  if (asked.generated.length) return { ...asked, generated: [] };
  if (asked.prompt !== plain) return { ...asked, prompt: plain };
  return asked.model ? { ...asked, model: undefined } : null;
}

/**
 * The run that a link describes, or the nearest to it that can be run, and then what was wrong with the link.
 *
 * @param {ReturnType<typeof import("./link.js").readLink>} link
 * @param {string} plain the prompt where the link has none
 * @param {(described: object) => Promise<object>} recall of fetching.js; it may fail
 * @returns {Promise<{ messages: object[]; asked: object }>} `asked`: the request that was answered
 */
export async function openLink(link, plain, recall) {
  const { layer } = link.selection; // undefined where the link names none: the server then says where to start
  const given = link.prompt !== undefined;
  let asked = {
    prompt: given ? link.prompt : plain,
    model: link.model,
    generated: given ? link.generated : [],
    layer: layer === undefined ? undefined : Math.min(layer, MOST_LAYERS - 1),
  };
  let refusal = null;
  for (;;) {
    const answer = await recall(asked).catch(() => LOST);
    const refused = isMessage(answer) && !answer.unanswered && answer.code !== "busy";
    const next = refused ? plainer(asked, answer, plain) : null;
    if (!next) return { messages: [answer, ...(isMessage(answer) ? [] : wrong(link, answer, refusal))], asked };
    refusal ??= answer;
    asked = next;
  }
}

/** What is to be said of a link under the run that came of it: one message at most, the gravest. */
function wrong(link, { model, tokens }, refusal) {
  const beyond = outside(link, { model, T: tokens.ids.length });
  const more = beyond.find(({ field }) => field === "more") ?? link.faults[0];
  if (refusal && (refusal.code === "model_unknown" || refusal.code.startsWith("prompt_"))) return [refusal];
  if (more) return [message("link_left_out", { ...more, expected: more.expected ?? "0, 1, 2, …" })];
  if (refusal) return [message("link_other", { detail: refusal.params?.detail ?? refusal.code })];
  return beyond.length ? [message("link_nearest", beyond[0])] : [];
}
