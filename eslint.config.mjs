// The rules for JavaScript. `make lint` installs ESLint and TypeScript, which checks the types in the comments.
import js from "./.venv/scripts/node_modules/@eslint/js/src/index.js";

const globals = (...names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

export default [
  { ignores: [".venv*/**", "build/**", "dist/**", "out/**"] },
  js.configs.recommended,
  {
    rules: { eqeqeq: "error", "no-eval": "error", "no-implied-eval": "error", "no-var": "error", "prefer-const": "error" },
  },
  {
    files: ["spotgeo_frames/**/*.js", "docs/**/*.js"],
    languageOptions: {
      globals: globals(
        "addEventListener", "atob", "clearTimeout", "console", "document", "getComputedStyle", "history", "innerHeight", "location", "matchMedia",
        "navigator", "requestAnimationFrame", "setTimeout", "structuredClone", "window", "Blob", "CSS", "DecompressionStream", "DOMMatrix", "Element", "HTMLAnchorElement", "HTMLCanvasElement", "HTMLDetailsElement", "HTMLElement",
        "HTMLSelectElement", "HTMLTableElement", "HTMLTemplateElement", "Image", "IntersectionObserver", "MutationObserver", "Option", "Path2D", "ResizeObserver", "Response", "URL", "URLSearchParams",
      ),
    },
  },
  {
    files: ["tests/**/*.mjs"],
    languageOptions: { globals: globals("process", "queueMicrotask", "URL") },
  },
];
