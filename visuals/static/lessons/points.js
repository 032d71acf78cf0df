// A note as points, one a line: whoever speaks finds the place by the first words of each, which are bold.

/** The most characters of the first words, of which Chinese needs few. @param {string} words */
const mostOf = (words) => (/\p{Script=Han}/u.test(words) ? 9 : 26);
const ENDS = /^[,.:;?!，。：；？！]/u;

/**
 * The first words of a point, no further than its first mark.
 *
 * @param {string} words
 */
function leadOf(words) {
  const most = mostOf(words);
  let lead = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(words)) {
    if (ENDS.test(segment)) return lead + segment;
    if (lead && lead.length + segment.length > most) break;
    lead += segment;
  }
  return lead.trimEnd();
}

/**
 * The points of a note; of one line, that line alone, without first words.
 *
 * @param {string} note
 * @returns {{ lead: string; rest: string }[]}
 */
export function pointsOf(note) {
  const lines = note.split("\n").filter((line) => line.trim());
  if (lines.length < 2) return lines.map((rest) => ({ lead: "", rest }));
  return lines.map((line) => {
    const lead = leadOf(line);
    return { lead, rest: line.slice(lead.length) };
  });
}
