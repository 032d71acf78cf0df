// The lessons that come with the page.

import { checkLesson } from "./lesson.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./lesson.js").Known} known
 * @param {(words: string) => void} tell
 */
export function createShipped(glass, known, tell) {
  const { lessons } = window.glassConfig;
  /** @type {Record<string, import("./lesson.js").Lesson[] | undefined>} by language */
  const fetched = {};
  return {
    /** Those in the page's language; none where the server has not answered. */
    now: () => fetched[glass.state.language] ?? [],
    async fetch() {
      const { language } = glass.state;
      fetched[language] ??= await Promise.all(
        lessons[language].map(async (address) => checkLesson(await (await fetch(address)).json(), known)),
      ).catch(() => {
        tell(glass.text("message.no_connection"));
        return undefined;
      });
    },
  };
}
