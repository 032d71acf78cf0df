// An empty window of the page's own origin that the page draws in, with the page's look.

import { addressOf } from "../addresses.js";
import { h } from "../dom.js";

/**
 * Makes an empty window look like the page.
 *
 * @param {Window} opened
 * @param {HTMLElement} root what is drawn in it
 * @param {string} title
 */
export function furnish({ document: own }, root, title) {
  if (root.ownerDocument === own && root.isConnected) return;
  own.title = title;
  own.documentElement.lang = document.documentElement.lang;
  own.body.className = document.body.className;
  /** @type {NodeListOf<HTMLLinkElement>} */
  const styles = document.querySelectorAll('link[rel="stylesheet"]');
  const wanted = ["glass.css", "lessons/style.css"].map(addressOf);
  const needed = [...styles].filter(({ href }) => wanted.includes(href));
  for (const { href } of needed) own.head.append(h("link", { rel: "stylesheet", href }));
  own.body.append(root);
}
