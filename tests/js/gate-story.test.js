import assert from "node:assert/strict";
import { test } from "node:test";
import { few } from "../../visuals/static/story/words.js";
import { writtenOf } from "../../visuals/static/story/scenes/gate.js";

const number = (said) => Number(said.replace("−", "-"));
const digits = (said) => said.replace(/\D/g, "").replace(/^0+/, "").length;

test("a gate has three digits, what SiLU makes of it as many or more, and the product comes out", () => {
  for (let gate = 4; gate < 12; gate += 0.0137) {
    const open = gate / (1 + Math.exp(-gate));
    const said = writtenOf({ gate, open, up: 1.3, product: open * 1.3 });
    assert.equal(digits(said.gate), 3, said.gate);
    assert.ok(digits(said.open) >= 3, `${gate}: ${said.gate} ${said.open}`);
    const again = number(said.gate) / (1 + Math.exp(-number(said.gate)));
    const last = 10 ** (Math.floor(Math.log10(open)) - 2); // of three digits
    assert.ok(Math.abs(again - number(said.open)) <= 1.1 * last, said.gate);
    assert.equal(few(number(said.open) * number(said.up), digits(said.product)), said.product);
  }
});
