// Tables: a click on a heading sorts, long tables show more, and cells show the frames that they are about.

import { make, makeButton } from "../../../viewer/assets/elements.js";
import { addCurve } from "./class_curves.js";

/**
 * @import { Curve } from "./class_curves.js"
 * @import { FramesSection } from "./frames_section.js"
 * @import { Condition } from "./filters.js"
 *
 * @typedef {object} TableData
 * @property {string[]} kinds
 * @property {string[][]} rows
 * @property {{[column: string]: number[]}} positions
 * @property {{[column: string]: string}} filters
 * @property {{[column: string]: string[]}} links the addresses of views, a row each
 * @property {Curve[]} [curves] that rows unfold
 * @property {number[]} [curve_of_row] the position of each row's curve, or -1
 */

const MORE = 100;
const COLLATOR = new Intl.Collator("en", { numeric: true });

/**
 * Sets up a table of the page.
 * @param {HTMLTableElement} table
 * @param {TableData} data
 * @param {{dash: string, rows_shown: number}} words
 * @param {FramesSection | null} frames
 */
export function setUpTable(table, data, { dash, rows_shown: shownAtFirst }, frames) {
  const { kinds, rows } = data;
  const headings = [...table.querySelectorAll("thead th")];
  const more = document.querySelector(`[data-more="${table.dataset.table}"]`);
  const state = { order: rows.map((_, position) => position), shown: shownAtFirst };

  function draw() {
    const lines = state.order.slice(0, state.shown).map((position) => {
      const line = rowElement(position, data, dash, frames);
      const curve = data.curves?.[data.curve_of_row?.[position] ?? -1];
      if (curve) addCurve(line, curve);
      return line;
    });
    table.tBodies[0].replaceChildren(...lines);
    if (!more?.firstElementChild) return;
    const n = Math.min(state.shown, rows.length);
    more.firstElementChild.textContent = `${n.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    // The buttons are disabled, not hidden, so that they keep the focus.
    for (const button of more.querySelectorAll("button")) button.setAttribute("aria-disabled", String(n === rows.length));
  }

  headings.forEach((heading, column) => {
    heading.querySelector("button")?.addEventListener("click", () => {
      const descending = heading.ariaSort === "ascending" || (kinds[column] === "number" && !heading.ariaSort);
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      state.order = ordered(data, column, descending, dash);
      draw();
    });
  });
  const [next, all] = more?.querySelectorAll("button") ?? [];
  if (next && all) {
    next.textContent = `Show ${Math.min(MORE, rows.length - shownAtFirst)} more`;
    all.textContent = "Show all";
    next.addEventListener("click", () => { state.shown = Math.min(state.shown + MORE, rows.length); draw(); });
    all.addEventListener("click", () => { state.shown = rows.length; draw(); });
  }
  if (rows.length) draw();
}

/**
 * The order of rows by a column, null last; equal rows keep their order.
 * @param {TableData} data
 * @param {number} column
 * @param {boolean} descending
 * @param {string} dash
 * @returns {number[]}
 */
export function ordered({ rows, kinds, positions }, column, descending, dash) {
  const kind = kinds[column];
  const sign = descending ? -1 : 1;
  /** @type {(string | number)[]} */
  const values = kind === "position"
    ? positions[column]
    : rows.map((row) => (kind === "number" ? writtenNumber(row[column]) : row[column]));
  const isNull = (/** @type {string | number} */ value) => Number(value === dash || Number.isNaN(value));
  const compare = (/** @type {string | number} */ a, /** @type {string | number} */ b) =>
    (typeof a === "string" ? COLLATOR.compare(a, String(b)) : Math.sign(a - Number(b)) || 0);
  return rows.map((_, position) => position).sort((a, b) => {
    if (isNull(values[a]) || isNull(values[b])) return isNull(values[a]) - isNull(values[b]) || a - b;
    return sign * compare(values[a], values[b]) || a - b;
  });
}

/**
 * The number of a cell; NaN for a dash.
 * @param {string} text
 */
function writtenNumber(text) {
  return parseFloat(text.replaceAll(",", "").replace("inf", "Infinity"));
}

/**
 * What the frames of a row have in common: the values of those cells that name a column of the viewer.
 * @param {string[]} row
 * @param {{[column: string]: string}} filters
 * @param {string} dash
 * @returns {Condition[]}
 */
export function conditionsOfRow(row, filters, dash) {
  const cells = Object.entries(filters).map(([position, column]) => ({ column, is: [row[Number(position)]] }));
  return cells.some(({ is: [text] }) => text === dash) ? [] : cells;
}

/**
 * @param {number} position
 * @param {TableData} data
 * @param {string} dash
 * @param {FramesSection | null} frames
 */
function rowElement(position, { rows, kinds, filters, links }, dash, frames) {
  const row = rows[position];
  const conditions = conditionsOfRow(row, filters, dash);
  const canShow = conditions.length > 0 && frames?.canShow(conditions);
  const line = make("tr");
  line.append(...row.map((text, column) => {
    const cell = make(column ? "td" : "th", kinds[column]);
    if (!column) cell.setAttribute("scope", "row");
    if (column in links && frames) {
      cell.append(viewLink(text, links[column][position]));
      return cell;
    }
    if (!(column in filters) || !canShow) {
      cell.textContent = text;
      if (column in filters) cell.title = "This page cannot show these frames";
      return cell;
    }
    const button = makeButton(text, () => { frames?.jump(conditions); });
    button.title = "Show the frames";
    cell.append(button);
    return cell;
  }));
  return line;
}

/**
 * @param {string} text
 * @param {string} address
 */
function viewLink(text, address) {
  const link = document.createElement("a");
  link.textContent = text;
  link.href = address;
  link.title = "Show the frames around";
  return link;
}
