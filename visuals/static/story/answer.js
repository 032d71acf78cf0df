// The story of one answer: from the sentence to its next word.

import { createAcross } from "./scenes/across.js";
import { createAnswer } from "./scenes/answer.js";
import { createCache } from "./scenes/cache.js";
import { createCarried } from "./scenes/carried.js";
import { createChoice } from "./scenes/choice.js";
import { createGate } from "./scenes/gate.js";
import { createGroup } from "./scenes/group.js";
import { createLayers } from "./scenes/layers.js";
import { createLooks } from "./scenes/looks.js";
import { createMatch } from "./scenes/match.js";
import { createNorm } from "./scenes/norm.js";
import { createPieces } from "./scenes/pieces.js";
import { createRope } from "./scenes/rope.js";

/** @type {import("./story.js").Story} */
export const ANSWER = {
  section: "story",
  parts: [
    ["answer"],
    ["pieces"],
    ["norm"],
    ["looks", "match", "rope", "group", "carried", "across"],
    ["gate"],
    ["layers"],
    ["choice"],
    ["cache"],
  ],
  inEveryLayer: [2, 4],
  scenes: [
    createAnswer,
    createPieces,
    createNorm,
    createLooks,
    createMatch,
    createRope,
    createGroup,
    createCarried,
    createAcross,
    createGate,
    createLayers,
    createChoice,
    createCache,
  ],
};
