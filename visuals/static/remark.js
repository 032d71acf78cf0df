/**
 * A remark of visuals/kv.py in the reader's language.
 *
 * @param {import("./messages.d.ts").Remark} remark
 * @param {string} language
 */
export const remarkIn = ({ en, zh }, language) => (language === "zh" ? zh : en);
