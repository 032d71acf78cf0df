// Light or dark: gradio keeps it as a class of the page's body.

const themeOfPage = () => (document.body.classList.contains("dark") ? "dark" : "light");

/**
 * Keeps the store's theme in step with the page's.
 *
 * @param {import("./types.d.ts").Store} store
 * @returns {() => void} changes it
 */
export function followTheme({ state, repaint }) {
  /** @param {"light" | "dark"} theme */
  function show(theme) {
    document.body.classList.toggle("dark", theme === "dark");
    state.theme = theme;
    repaint(true);
  }
  const root = document.documentElement.classList; // dark before there is a body (app/files.py)
  if (root.contains("dark")) document.body.classList.add("dark");
  root.remove("dark");
  state.theme = themeOfPage();
  new MutationObserver(() => {
    const theme = themeOfPage();
    if (theme !== state.theme) show(theme);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  return () => show(state.theme === "dark" ? "light" : "dark");
}
