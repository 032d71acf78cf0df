// How heads are ablated where each is measured by itself: it writes its mean over ordinary text, or nothing.

/**
 * The panel's setting.
 *
 * @param {Pick<import("../../types.d.ts").Glass, "settings">} glass
 */
export const ablationOf = (glass) => (glass.settings.get("why").ablation === "zero" ? "zero" : "mean");
