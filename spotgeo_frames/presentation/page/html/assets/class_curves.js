// Curves of classes: a button in a row of a table unfolds precision over recall below it.

import { make, makeButton } from "../../../viewer/assets/elements.js";

/**
 * @typedef {object} Curve
 * @property {string} name
 * @property {[series: number, text: string][]} texts about each submission
 * @property {{series: number, dashed: boolean, precisions: number[]}[]} lines in thousandths, over recall from 0 to 1
 */

/** The size of the picture and its margins, px. */
const PLOT = { width: 360, height: 240, left: 40, right: 8, top: 24, bottom: 34 };
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** The colours of submissions that the page's style has. */
const MOST_SERIES = 8;

/**
 * Adds the button to the last cell of a row that names it, that of the class.
 * @param {HTMLTableRowElement} line
 * @param {Curve} curve
 */
export function addCurve(line, curve) {
  const cells = [...line.cells];
  const place = cells.findLast((cell) => cell.querySelector("button")) ?? cells[0];
  /** @type {HTMLTableRowElement | null} */
  let unfolded = null;
  const button = makeButton("curve", () => {
    if (unfolded) unfolded.remove();
    unfolded = unfolded ? null : detailOf(curve, cells.length);
    if (unfolded) line.after(unfolded);
    button.setAttribute("aria-expanded", String(unfolded !== null));
  });
  button.className = "unfolds";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `curve: ${curve.name}`);
  place.append(" ", button);
}

/**
 * The row with the picture and what it says.
 * @param {Curve} curve
 * @param {number} nColumns
 */
function detailOf(curve, nColumns) {
  const row = make("tr", "unfolded");
  const cell = make("td");
  cell.colSpan = nColumns;
  const texts = make("ul");
  texts.append(...curve.texts.map(([series, text]) => {
    const item = make("li", seriesOf(series)); // its mark has the colour, its text that of all texts
    item.append(make("span", "", text));
    return item;
  }));
  cell.append(make("strong", "", curve.name), pictureOf(curve), texts, make("p", "note", "Solid from a similarity of 0.50, dashed from 0.75."));
  row.append(cell);
  return row;
}

/** @param {Curve} curve */
function pictureOf({ name, texts, lines }) {
  const svg = drawn("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": `${name}. ${texts.map(([, text]) => text).join(". ")}` });
  for (const tick of TICKS) {
    const label = `${100 * tick}%`;
    svg.append(
      drawn("line", { x1: xAt(0), x2: xAt(1), y1: yAt(tick), y2: yAt(tick) }),
      drawn("text", { x: PLOT.left - 6, y: yAt(tick) + 4, "text-anchor": "end" }, label),
      drawn("text", { x: xAt(tick), y: PLOT.height - PLOT.bottom + 15, "text-anchor": tick === 1 ? "end" : "middle" }, label),
    );
  }
  svg.append(drawn("text", { x: xAt(0.5), y: PLOT.height - 3, "text-anchor": "middle" }, "recall"), drawn("text", { x: 0, y: 12 }, "precision"));
  for (const { series, dashed, precisions } of lines) {
    const points = precisions.map((precision, i) => `${xAt(i / (precisions.length - 1)).toFixed(1)} ${yAt(precision / 1000).toFixed(1)}`);
    svg.append(drawn("path", { d: `M${points.join("L")}`, class: `${seriesOf(series)}${dashed ? " dashes" : ""}` }));
  }
  return svg;
}

/** @param {number} series */
function seriesOf(series) {
  return `series-${(series % MOST_SERIES) + 1}`;
}

/** @param {number} recall */
function xAt(recall) {
  return PLOT.left + recall * (PLOT.width - PLOT.left - PLOT.right);
}

/** @param {number} precision */
function yAt(precision) {
  return PLOT.top + (1 - precision) * (PLOT.height - PLOT.top - PLOT.bottom);
}

/** The namespace of pictures, which the page's template knows, so that no script has an address in it. */
function namespace() {
  const template = document.querySelector("template[data-picture]");
  return template instanceof HTMLTemplateElement ? template.content.firstElementChild?.namespaceURI ?? null : null;
}

/**
 * @param {string} name
 * @param {{[name: string]: string | number}} attributes
 * @param {string} [text]
 */
function drawn(name, attributes, text) {
  const element = document.createElementNS(namespace(), name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}
