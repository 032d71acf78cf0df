import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: [".venv/", "node_modules/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: "latest", sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 20],
      eqeqeq: "error",
      "max-len": ["error", { code: 120 }],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
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
    files: ["tests/js/**"],
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: { "max-lines-per-function": "off" },
  },
];
