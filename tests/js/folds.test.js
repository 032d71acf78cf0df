// Which panel an address leads to, and what a chapter's fold hides.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readLink } from "../../visuals/static/link.js";

const { panelOfLink } = await import("../../visuals/static/folds.js");

const NORM = { panels: ["norm-vector", "rmsnorm", "norm-scale"], onDemand: ["rmsnorm", "norm-scale"] };

test("an address leads to the panel that it names, else to the first on demand that it sets", () => {
  const led = (hash) => panelOfLink(readLink(hash), NORM);
  assert.equal(led("#chapter=norm"), null);
  assert.equal(led("#chapter=norm&panel=norm-vector&norm.scale=2"), "norm-vector");
  assert.equal(led("#chapter=norm&norm.scale=2"), "norm-scale");
  assert.equal(led("#chapter=norm&rmsnorm.figure=mean&norm.flip=1"), "rmsnorm");
  assert.equal(led("#chapter=norm&norm.which=final"), null); // which norm is of all its panels
  assert.equal(led("#chapter=norm&panel=lens&lens.kind=jacobian"), null); // of another chapter
});
