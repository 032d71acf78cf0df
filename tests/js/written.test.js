import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, labelsOf, textOf } from "../../visuals/static/characters.js";
import { writtenText } from "../../visuals/static/written.js";

test("a character of several tokens is whole", () => {
  assert.equal(textOf(["院子⟨E9⟩⟨87⟩", "⟨8C⟩", " a"]), "院子里 a");
  assert.equal(textOf(["⟨E9⟩", "⟨87⟩"]), "⟨E9⟩⟨87⟩"); // more is to come
});

test("tokens that hold one character together are named by it, each as a part of it", () => {
  const pieces = ["院子", "⟨E9⟩⟨87⟩", "⟨8C⟩", " a", "⟨E9⟩"];
  assert.deepEqual(labelsOf(pieces), ["院子", "里(1/2)", "里(2/2)", " a", "⟨E9⟩"]);
  assert.equal(labelsOf(pieces), labelsOf(pieces));
  assert.deepEqual(pieces.map(bytesOf), [6, 2, 1, 2, 1]);
});

test("what was written: of the run, and since", () => {
  const model = { eos_ids: [] };
  const trace = {
    model,
    tokens: { ids: [4, 5, 6], pieces: ["The", " cat", " sat"] },
    nPrompt: 2,
    T: 3,
    steps: [
      { id: 6, piece: " sat" },
      { id: 7, piece: " on" },
    ],
  };
  assert.equal(writtenText(trace), " sat on");
  assert.equal(writtenText({ ...trace, nPrompt: 3, steps: [] }), "");
});

test("the token that ends a text is no part of what was written", () => {
  const [model, end] = [{ eos_ids: [0, 9] }, "<|end|>"];
  // as a link brings it
  const run = { model, tokens: { ids: [4, 6, 0], pieces: ["The", " cat.", end] }, nPrompt: 1, T: 3, steps: [] };
  assert.equal(writtenText(run), " cat.");
  assert.equal(
    writtenText({ ...run, steps: [{ id: 6 }, { id: 0 }, { id: 8, piece: " A dog" }, { id: 9, piece: "</s>" }] }),
    " cat. A dog",
  );
  // it wrote nothing else
  assert.equal(writtenText({ ...run, tokens: { ids: [4, 0], pieces: ["The", end] }, T: 2 }), "");
  // a token of that name alone
  assert.equal(writtenText({ ...run, tokens: { ids: [4, 6, 8], pieces: ["The", " cat.", end] } }), ` cat.${end}`);
});
