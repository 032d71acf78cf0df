import assert from "node:assert/strict";
import { test } from "node:test";
import { createModels } from "../../visuals/static/models.js";

test("the networks on offer, by what a reader calls them", () => {
  globalThis.document = { documentElement: { dataset: {} } };
  const models = createModels(
    (key, { family, parameters } = {}) => [key, family, parameters].filter(Boolean).join(" "),
    (count) => `${count / 1e6} M`,
  );
  models.offer([
    { name: "Glass Llama (bundled)", parameters: 6.5e6, kind: "bundled", family: "LLaMA", examples: "world" },
    { name: "BLOOM (small)", parameters: 3e6, kind: "small", family: "BLOOM", examples: "world" },
  ]);
  assert.deepEqual(
    models.list().map(({ name, label, small }) => [name, label, small]),
    [
      ["Glass Llama (bundled)", "bar.model_bundled LLaMA 6.5 M", false],
      ["BLOOM (small)", "bar.model_small BLOOM 3 M", true],
    ],
  );
  models.mark("BLOOM (small)");
  assert.equal(document.documentElement.dataset.examples, "world");
  models.offer([{ name: "own/model", parameters: 1, kind: null, family: "LLaMA", examples: null }]);
  models.mark("own/model");
  assert.equal(document.documentElement.dataset.examples, ""); // none is offered
  assert.equal(models.nameOf("own/model"), "own/model");
});
