import assert from "node:assert/strict";
import { test } from "node:test";
import { createModels } from "../../visuals/static/models.js";

test("the picker's choices, by what a reader calls them, under a heading before the first small one", () => {
  const set = {};
  globalThis.document = {
    documentElement: {
      dataset: {},
      style: {
        setProperty: (name, value) => {
          set[name] = value;
        },
      },
    },
  };
  const models = createModels(
    (key, { family, parameters } = {}) => [key, family, parameters].filter(Boolean).join(" "),
    (count) => `${count / 1e6} M`,
  );
  models.offer([
    { name: "Glass Llama (bundled)", parameters: 6.5e6, kind: "bundled", family: "LLaMA", examples: "world" },
    { name: "BLOOM (small)", parameters: 3e6, kind: "small", family: "BLOOM", examples: "world" },
  ]);
  assert.deepEqual(models.choices(), [
    ["bar.model_bundled LLaMA 6.5 M", "Glass Llama (bundled)"],
    ["bar.model_small BLOOM 3 M", "BLOOM (small)"],
  ]);
  assert.equal(document.documentElement.dataset.small, "1");
  assert.equal(set["--small-networks"], '"bar.models_small"');
  models.mark("BLOOM (small)");
  assert.equal(document.documentElement.dataset.examples, "world");
  models.offer([{ name: "own/model", parameters: 1, kind: null, family: "LLaMA", examples: null }]);
  models.mark("own/model");
  assert.equal(document.documentElement.dataset.examples, ""); // none is offered
  assert.deepEqual(models.choices(), [["own/model", "own/model"]]);
  assert.equal(document.documentElement.dataset.small, "-1");
});
