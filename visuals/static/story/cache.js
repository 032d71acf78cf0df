// The story of the KV cache: what is kept of a text, why that, what it saves and what it costs.

import { ofDecoder, showsEncoder } from "./of-decoder.js";
import { createDecode } from "./scenes/cache/decode.js";
import { createGrows } from "./scenes/cache/grows.js";
import { createKept } from "./scenes/cache/kept.js";
import { createPredict } from "./scenes/cache/predict.js";
import { createPrefill } from "./scenes/cache/prefill.js";
import { createQuery } from "./scenes/cache/query.js";
import { createSaves } from "./scenes/cache/saves.js";
import { createShares } from "./scenes/cache/shares.js";

/** @type {import("./story.js").Story} */
export const CACHE = {
  section: "story-cache",
  parts: [["prefill"], ["decode"], ["kept"], ["query"], ["saves"], ["grows"], ["shares"], ["predict"]],
  scenes: [createPrefill, createDecode, createKept, createQuery, createSaves, createGrows, createShares, createPredict],
  of: ofDecoder,
  note: (glass) => (showsEncoder(glass) ? "of_decoder" : null),
};
