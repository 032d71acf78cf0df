import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.ResizeObserver = class {};
const { isByCharacter } = await import("../../visuals/static/story/scenes/pieces.js");

test("a text is read character by character only where every piece is one", () => {
  assert.equal(isByCharacter(["我", "的", "狗"], 3), true);
  assert.equal(isByCharacter(["1", "+", "1", "="], 4), true);
  assert.equal(isByCharacter(["厨房", "里"], 3), false);
  assert.equal(isByCharacter(["<0xE6>", "<0x88>", "<0x91>", "我的狗"], 4), false); // as many, but not one each
});
