// A note as points, one a line: whoever speaks finds the place by the first words of each, which are bold.

const MOST = { words: 26, han: 16 }; // characters of the first words
const ENDS = /^[,.:;?!，。：；？！]/u;

/**
 * The first words of a point, no further than its first mark. Chinese has no blanks: what has no mark so early has
 * no first words.
 *
 * @param {string} words
 */
function leadOf(words) {
  if (/\p{Script=Han}/u.test(words)) {
    const at = words.search(/[，。：；？！]/u) + 1;
    return at <= MOST.han ? words.slice(0, at) : "";
  }
  let lead = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(words)) {
    if (ENDS.test(segment)) return lead + segment;
    if (lead && lead.length + segment.length > MOST.words) break;
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
