// What was written after the prompt, as text that can be selected and copied: the strip's tokens are buttons.

import { copyButton } from "./controls.js";
import { h } from "./dom.js";

const BYTES = /(?:⟨[0-9A-F]{2}⟩)+/g; // as model/tokenizer.py shows bytes that are no whole character
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of these pieces, with the bytes of a character that several tokens hold put together. @param {string[]} pieces */
export function textOf(pieces) {
  return pieces.join("").replace(BYTES, (shown) => {
    try {
      return utf8.decode(Uint8Array.from(shown.match(/[0-9A-F]{2}/g), (byte) => parseInt(byte, 16)));
    } catch {
      return shown;
    }
  });
}

/** What the model wrote, as far as it came, without the tokens that end a text. @param {import("./decode.js").Trace} trace */
export function writtenText({ model, tokens: { ids, pieces }, nPrompt, T, steps }) {
  const all = [...pieces.map((piece, t) => ({ id: ids[t], piece })).slice(nPrompt), ...steps.slice(T - nPrompt)];
  return textOf(all.filter(({ id }) => !model.eos_ids.includes(id)).map(({ piece }) => piece));
}

/** Puts a text into a text node; what stays of it stays selected. */
function put(node, text) {
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else node.data = text;
}

/** @param {HTMLElement} place @param {object} store @param {object} texts */
export function showWritten(place, store, texts) {
  const [prompt, written] = [document.createTextNode(""), document.createTextNode("")];
  const text = h("p", { dir: "auto", tabindex: "0", "data-text-label": "page.written" }, h("span", null, prompt), h("ins", null, written));
  text.setAttribute("role", "group");
  const copy = copyButton("page-close", texts.text, ["page.copy", "page.copied"], () => text.textContent);
  place.append(text, copy);
  texts.translate(place);
  const show = () => {
    const { trace } = store.state;
    const after = trace ? writtenText(trace) : "";
    place.hidden = after === "";
    put(prompt, after && trace.prompt);
    put(written, after);
    if (trace?.generating) text.scrollTop = text.scrollHeight;
  };
  store.on("run", show);
  store.on("steps", show);
  show();
}
