// The plans of a lesson: which of its views are shown, and for how long. Each view says its minutes in every plan, so
// that a plan holds whatever is moved, added or left out. Knows no page.

/**
 * @typedef {import("./lesson.js").Lesson} Lesson
 *
 * @typedef {import("./lesson.js").View} View
 *
 * @typedef {{ at: number; minutes: number; views: number }} Plan `at`: its place in `minutes` of each view;
 *   `minutes` and `views`: in all
 */

/**
 * How long a view is shown in one plan, in minutes; 0 where it is left out.
 *
 * @param {View} view
 * @param {number} plan
 */
const lasts = ({ minutes }, plan) => minutes?.[plan] ?? 0;

/**
 * The plans of a lesson, the shortest first.
 *
 * @param {Lesson} lesson
 * @returns {Plan[]}
 */
export function plansOf({ views }) {
  const count = Math.max(0, ...views.map(({ minutes }) => minutes?.length ?? 0));
  return Array.from({ length: count }, (_, at) => ({
    at,
    minutes: views.reduce((sum, view) => sum + lasts(view, at), 0),
    views: views.filter((view) => lasts(view, at) > 0).length,
  }))
    .filter(({ minutes }) => minutes > 0)
    .sort((a, b) => a.minutes - b.minutes);
}

/**
 * The lesson as one plan has it: the views that it shows, with their minutes in it alone.
 *
 * @param {Lesson} lesson
 * @param {number} plan
 * @returns {Lesson}
 */
export const inPlan = (lesson, plan) => ({
  ...lesson,
  views: lesson.views
    .filter((view) => lasts(view, plan) > 0)
    .map((view) => ({ ...view, minutes: [lasts(view, plan)] })),
});

/**
 * How long each view is to be shown where the whole lesson is: in its longest plan.
 *
 * @param {Lesson} lesson
 * @returns {number[]} minutes; 0 where none are planned
 */
export function minutesOf(lesson) {
  const longest = plansOf(lesson).at(-1);
  return lesson.views.map((view) => (longest ? lasts(view, longest.at) : 0));
}
