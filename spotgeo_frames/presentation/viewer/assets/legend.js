// The legend, outside the picture: each mark as it is drawn, and the colours of submissions where they tell these.

import { drawChangeSymbol } from "./corners.js";
import { sharp } from "./draw.js";
import { make } from "./elements.js";
import { changeMeaning, KINDS_OF_CHANGE } from "./gains.js";
import { MARKS, RIGHT } from "./marks.js";
import { drawSymbol } from "./strokes.js";

/**
 * @import { Coloring } from "./draw.js"
 * @import { Palette } from "./palette.js"
 * @import { SourceFacts } from "./source.js"
 */

const SIZE = { width: 26, height: 18 };

/**
 * Fills the list of marks, those of changes only where two submissions are shown. `submissions` are the positions of those that are shown.
 * @param {HTMLElement} list
 * @param {SourceFacts} about
 * @param {Palette} palette
 * @param {Coloring} coloring
 * @param {number[]} submissions
 */
export function showLegend(list, about, palette, coloring, submissions) {
  if (palette.rim) list.dataset.picture = "yes";
  else delete list.dataset.picture;
  const marks = MARKS.map((text, mark) => entry(about, mark, coloring === "outcome" ? palette.marks[mark] : palette.ink, palette, text));
  const colored = coloring !== "submission" ? [] : submissions.map((submission) =>
    entry(about, RIGHT, palette.series[submission % palette.series.length], palette, about.submissions[submission]));
  const changes = submissions.length !== 2 ? [] : changeEntries(submissions.map((submission) => about.submissions[submission]), palette);
  const link = make("li", "", coloring === "identity" ? "each identity has its colour and its label" : "a line joins a pair");
  list.replaceChildren(...marks, ...colored, ...changes, link);
}

/**
 * @param {SourceFacts} about
 * @param {number} mark
 * @param {string} color
 * @param {Palette} palette
 * @param {string} text
 */
function entry(about, mark, color, palette, text) {
  return symbolEntry((context) => drawSymbol(context, about, mark, color, palette, SIZE), text);
}

/**
 * @param {string[]} names of two submissions
 * @param {Palette} palette
 */
function changeEntries(names, palette) {
  return KINDS_OF_CHANGE.map((change) =>
    symbolEntry((context) => drawChangeSymbol(context, change, palette, SIZE), `${change}: ${changeMeaning(change, names)}`));
}

/**
 * @param {(context: CanvasRenderingContext2D) => void} draw
 * @param {string} text
 */
function symbolEntry(draw, text) {
  const item = make("li");
  const canvas = make("canvas");
  canvas.setAttribute("aria-hidden", "true");
  draw(sharp(canvas, SIZE));
  item.append(canvas, text);
  return item;
}
