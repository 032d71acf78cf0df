import assert from "node:assert/strict";
import { test } from "node:test";
import { few } from "../../visuals/static/story/words.js";
import { writtenOf } from "../../visuals/static/story/scenes/gate.js";

const number = (said) => Number(said.replace("−", "-"));
const digits = (said) => said.replace(/\D/g, "").replace(/^0+/, "").length;

test("a gate and what SiLU makes of it are printed in equally many digits, which come out", () => {
  for (let gate = 4; gate < 12; gate += 0.0137) {
    const open = gate / (1 + Math.exp(-gate));
    const said = writtenOf({ gate, open, up: 1.3, product: open * 1.3 });
    assert.equal(digits(said.gate), digits(said.open), `${gate}: ${said.gate} ${said.open}`);
    assert.ok(digits(said.gate) >= 3, said.gate);
    const again = number(said.gate) / (1 + Math.exp(-number(said.gate)));
    assert.equal(few(again, digits(said.open)), said.open);
    assert.equal(few(number(said.open) * number(said.up), digits(said.product)), said.product);
  }
});
