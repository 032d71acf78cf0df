import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf, writtenText } from "../../visuals/static/written.js";

test("a character of several tokens is whole", () => {
  assert.equal(textOf(["院子⟨E9⟩⟨87⟩", "⟨8C⟩", " a"]), "院子里 a");
  assert.equal(textOf(["⟨E9⟩", "⟨87⟩"]), "⟨E9⟩⟨87⟩"); // more is to come
});

test("what was written: of the run, and since", () => {
  const trace = { tokens: { pieces: ["The", " cat", " sat"] }, nPrompt: 2, T: 3, steps: [{ piece: " sat" }, { piece: " on" }] };
  assert.equal(writtenText(trace), " sat on");
  assert.equal(writtenText({ ...trace, nPrompt: 3, steps: [] }), "");
});
