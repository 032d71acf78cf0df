// What of a panel is an answer. A panel marks it in its own markup: data-answer="" is what is asked for, in whose place
// a covered view has a question mark; data-answer="beside" what would give it away; data-answer="drawn" a drawing that
// leaves it out by itself while the view is covered (`covered` in store.js).

/**
 * Whether the part of a panel that is shown marks its answer, so that the rest of it may be seen before.
 *
 * @param {HTMLElement} section the panel
 * @param {string} part ".name" of the part; "": all of it
 */
export function asksIn(section, part) {
  const shown = (part && section.querySelector(`.gp-body ${part}`)) || section;
  const asked = ':is([data-answer=""], [data-answer="drawn"])';
  return shown.matches(asked) || Boolean(shown.querySelector(asked));
}
