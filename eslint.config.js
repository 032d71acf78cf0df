import js from "@eslint/js";
import imports from "eslint-plugin-import-x";
import globals from "globals";

// A visitor's text becomes text, never elements; and no number is drawn at random.
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "createContextualFragment"];
const BANNED = [
  ...MARKUP.map((property) => ({ property, message: "Text enters the page as text nodes (dom.js)." })),
  { object: "document", property: "write", message: "Text enters the page as text nodes (dom.js)." },
  { object: "Math", property: "random", message: "Every number on the page comes from the run." },
];

// The core and the marks know none of what is built on them: that registers itself (docs/ARCHITECTURE.md).
const BUILT_ON_CORE = ["panels", "difference", "glossary", "lessons", "story"].map((folder) => `**/${folder}/**`);

export default [
  { ignores: [".venv*/", "node_modules/", "visuals/static/vendor/"] },
  js.configs.recommended,
  {
    plugins: { "import-x": imports },
    languageOptions: { ecmaVersion: "latest", sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 20],
      eqeqeq: "error",
      "import-x/no-cycle": "error",
      "max-len": ["error", { code: 120 }],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      "no-restricted-properties": ["error", ...BANNED],
      "no-unused-vars": [
        "error",
        {
          argsIgnorePattern: "^_",
          varsIgnorePattern: "^_",
          destructuredArrayIgnorePattern: "^_",
          ignoreRestSiblings: true,
        },
      ],
      "prefer-const": "error",
    },
  },
  {
    files: ["visuals/static/*.js", "visuals/static/marks/*.js"],
    ignores: ["visuals/static/glass.js"], // which puts the page together
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: BUILT_ON_CORE, message: "The core imports nothing that is built on it, or lazily." }] },
      ],
    },
  },
  {
    files: ["tests/js/**"],
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: { "max-lines-per-function": "off" },
  },
];
