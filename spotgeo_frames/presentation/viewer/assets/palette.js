// Colours: those of the style sheet for marks and submissions, and one for each identity.

/**
 * @typedef {object} Palette
 * @property {boolean} dark whether what is behind is dark
 * @property {boolean} rim whether lines need a dark rim, since a picture is behind them
 * @property {string} ink
 * @property {string} paper
 * @property {string} chosen
 * @property {string[]} marks by their position in MARKS
 * @property {string[]} series by the position of a submission
 */

const MARK_VARIABLES = ["--viewer-found", "--viewer-missed", "--viewer-right", "--viewer-false", "--viewer-ignored"];
const N_SERIES = 8;

/** Brighter colours, which are visible on any picture when they have a dark rim. */
const ON_PICTURES = {
  dark: true,
  rim: true,
  ink: "#ffffff",
  paper: "#14171b",
  chosen: "#ffffff",
  marks: ["#3ccfa0", "#ff7a52", "#56b4e9", "#f0b429", "#c8ced6"],
  series: ["#56b4e9", "#e69f00", "#3ccfa0", "#ff8a4c", "#c39be6", "#aab4bf", "#f28ec0", "#b5d34a"],
};

/** Hues next to one another in this order differ much: each is turned by the golden angle. */
const GOLDEN_ANGLE = 137.508;

/**
 * The colours that hold within an element, and those on pictures.
 * @param {Element} element
 * @returns {{plain: Palette, onPicture: Palette}}
 */
export function palettesOf(element) {
  const style = getComputedStyle(element);
  const color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const plain = {
    dark: color("--viewer-scheme") === "dark",
    rim: false,
    ink: color("--viewer-ink"),
    paper: color("--viewer-paper"),
    chosen: color("--viewer-chosen"),
    marks: MARK_VARIABLES.map(color),
    series: Array.from({ length: N_SERIES }, (_, i) => color(`--viewer-series-${i + 1}`)),
  };
  return { plain, onPicture: ON_PICTURES };
}

/**
 * The colour of an identity, the same in all frames and submissions.
 * @param {string} name
 * @param {boolean} dark whether what is behind is dark
 * @returns {string}
 */
export function identityColor(name, dark) {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  const step = hash >>> 0;
  const lightness = (dark ? 66 : 32) + 4 * (step % 3);
  return `hsl(${Math.round((step * GOLDEN_ANGLE) % 360)} 75% ${lightness}%)`;
}
