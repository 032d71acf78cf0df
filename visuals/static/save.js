// The button save of a panel: a picture that explains itself, or the values as a table.

import { h } from "./dom.js";
import { fit, ink, write } from "./draw.js";

function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Rows as RFC 4180 has them; a text that a spreadsheet would run as a formula gets a quote in front. */
export function csvText(rows) {
  const field = (value) => {
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n']/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

/** The canvas under its title and the prompt, on the panel's ground, so that a saved picture explains itself. */
function picture(canvas, title, prompt) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [width, height] = [canvas.width / ratio + 32, canvas.height / ratio + 80];
  const sheet = document.createElement("canvas");
  const context = fit(sheet, width, height);
  context.fillStyle = ink().colour("card");
  context.fillRect(0, 0, width, height);
  write(context, title, 16, 28, { size: 16, weight: 600, most: width - 32 });
  write(context, prompt, 16, 50, { colour: ink().colour("muted"), most: width - 32 });
  context.drawImage(canvas, 16, 64, width - 32, height - 80);
  return sheet;
}

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "display", "visibility"];

/** A drawing as a file of its own: the page's styles are written into each of its elements. @param {SVGElement} drawing */
function svgText(drawing) {
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of DRAWN) to[i].style.setProperty(name, style.getPropertyValue(name));
  });
  const { width, height } = drawing.getBoundingClientRect();
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(name, value);
  copy.style.setProperty("background", ink().colour("card"));
  return new XMLSerializer().serializeToString(copy);
}

/** The button save: the file at once where there is one kind, else a choice. */
export function saving(button, panel, glass, kind, { png, svg, csv }) {
  const { state } = glass;
  const name = (ending) => `glass-llama-${kind}-layer${state.layer}-token${state.query}.${ending}`;
  const kinds = {
    PNG:
      png &&
      (async () =>
        picture(await png(), panel.title.textContent, `${state.trace.model.name} · ${state.trace.prompt}`).toBlob((blob) =>
          download(name("png"), blob),
        )),
    SVG: svg && (() => download(name("svg"), new Blob([svgText(svg())], { type: "image/svg+xml" }))),
    CSV: csv && (() => download(name("csv"), new Blob(["\ufeff", csvText(csv())], { type: "text/csv" }))),
  };
  const offered = Object.entries(kinds).filter(([, act]) => act);
  const menu = h("div.gp-menu", { hidden: "" });
  for (const [label, act] of offered) {
    const choice = h("button.gp-choice", { type: "button" }, label);
    choice.addEventListener("click", () => {
      menu.hidden = true;
      if (state.trace) act();
    });
    menu.append(choice);
  }
  const open = () => (offered.length === 1 ? state.trace && offered[0][1]() : (menu.hidden = !menu.hidden));
  const holder = h("div.gp-save", null, button("save", open), menu);
  holder.addEventListener("keydown", (event) => {
    if (event.key === "Escape") menu.hidden = true;
  });
  holder.addEventListener("focusout", (event) => {
    if (!holder.contains(event.relatedTarget)) menu.hidden = true;
  });
  return holder;
}
