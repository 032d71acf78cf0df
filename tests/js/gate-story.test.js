import assert from "node:assert/strict";
import { test } from "node:test";
import { few } from "../../visuals/static/story/words.js";
import { writtenOf } from "../../visuals/static/story/scenes/gate.js";

const number = (said) => Number(said.replace("−", "-"));
const digits = (said) => said.replace(/\D/g, "").replace(/^0+/, "").length;

test("what SiLU makes of a gate, and the product, come out of what is printed, in two digits at least", () => {
  const silu = (x) => x / (1 + Math.exp(-x));
  for (let gate = 4; gate < 12; gate += 0.0137) {
    const open = silu(gate);
    const said = writtenOf({ gate, open, up: 1.3, product: open * 1.3 });
    for (const one of Object.values(said)) assert.ok(digits(one) >= 2, `${gate}: ${one}`);
    assert.equal(few(silu(number(said.gate)), digits(said.open)), said.open);
    assert.equal(few(number(said.open) * number(said.up), digits(said.product)), said.product);
  }
});
