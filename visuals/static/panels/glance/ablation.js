// How heads are ablated where each is measured by itself: it writes its mean over ordinary text, or nothing.

/**
 * The panel's setting.
 *
 * @param {Pick<import("../../types.d.ts").Glass, "settings">} glass
 */
export const ablationOf = (glass) => (glass.settings.get("why").ablation === "zero" ? "zero" : "mean");

/**
 * What stands in a head's place: the sign of its number may hang on it, and the story has its own.
 *
 * @param {Pick<import("../../types.d.ts").Glass, "text">} glass
 * @param {{ ablation: string }} measured
 */
export const takenOut = ({ text }, { ablation }) => text(`why.ablation_${ablation}`);
