// Colours: those of the theme, from its style sheet, for marks and submissions, and one for each identity.

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
  const series = color("--viewer-over-series").split(" ");
  const plain = {
    dark: color("--viewer-scheme") === "dark",
    rim: false,
    ink: color("--viewer-ink"),
    paper: color("--viewer-paper"),
    chosen: color("--viewer-chosen"),
    marks: MARK_VARIABLES.map(color),
    series: series.map((_, i) => color(`--viewer-series-${i + 1}`)),
  };
  // Brighter colours, which are visible on any picture when they have a dark rim.
  const onPicture = {
    dark: true,
    rim: true,
    ink: color("--viewer-over-ink"),
    paper: color("--viewer-over-paper"),
    chosen: color("--viewer-over-chosen"),
    marks: color("--viewer-over-marks").split(" "),
    series,
  };
  return { plain, onPicture };
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
