// Counts of rows: by the values of a column and their outcome, or class by class. A click on a cell marks its rows.

import { asksForMore, make, makeSelect } from "../../viewer/assets/elements.js";

/**
 * @import { Kernel } from "./kernel.js"
 *
 * The columns of match tables, of numbers and to group by, and the charts of classes taken for others, one for each.
 * @typedef {{numbers: string[], groups: string[], confusion: string[]}} ColumnNames
 *
 * @typedef {{rows: string[], columns: string[], counts: number[][]}} CountsTable
 * @typedef {object} Part
 * @property {HTMLElement} element
 * @property {() => Promise<void>} show asks the kernel, and shows what it answers
 * @property {(what: "filter" | "marks") => boolean} follows whether another filter, or other marks, change what is shown
 */

const CLASSES = "class taken for class";
const HOW_COUNTS = "A click on a count marks its rows; Shift or Ctrl adds them.";
const OWN_NAMES = ["object", "x", "y", "w", "h"].map((name) => `truth_${name}`);

/**
 * @param {Kernel} kernel
 * @param {string[]} submissions
 * @param {ColumnNames} columns
 * @returns {Part}
 */
export function makeCounts(kernel, submissions, { groups, confusion }) {
  const names = [...confusion, ...groups];
  let by = confusion[0] ?? groups.find((name) => name.startsWith("truth_") && !OWN_NAMES.includes(name)) ?? groups[0];
  const { label, select } = makeSelect("Count by", [...confusion.map((_, i) => (confusion.length > 1 ? `${CLASSES}, ${submissions[i]}` : CLASSES)), ...groups], (i) => { by = names[i]; show(); });
  select.selectedIndex = names.indexOf(by);
  const place = make("div", "viewer-scroll");
  const [element, controls] = [make("div"), make("div", "viewer-controls")];
  controls.append(label);
  element.append(controls, make("p", "explorer-help", HOW_COUNTS), place);
  return { element, show, follows: (what) => what === "filter" };

  async function show() {
    const asked = by;
    const { content } = await kernel.ask("counts", { by: asked });
    if (asked !== by) return; // something else was asked meanwhile
    const choose = (/** @type {number} */ row, /** @type {number} */ column, /** @type {boolean} */ more) => kernel.tell("choose", { by: asked, row, column, more });
    place.replaceChildren(countsTable(content, confusion.includes(asked), asked, choose));
  }
}

/**
 * @param {CountsTable} counts
 * @param {boolean} isOfClasses
 * @param {string} name of the column
 * @param {(row: number, column: number, more: boolean) => void} choose
 */
function countsTable({ rows, columns, counts }, isOfClasses, name, choose) {
  const [table, head, body] = [make("table", "explorer-counts"), make("thead"), make("tbody")];
  const headings = make("tr");
  headings.append(make("th", "", isOfClasses ? "true class, by what it was detected as" : name));
  for (const column of columns) headings.append(make("th", "number", column));
  head.append(headings);
  counts.forEach((line, i) => {
    const row = make("tr");
    const heading = make("th", "", rows[i]);
    heading.scope = "row";
    row.append(heading);
    const most = Math.max(...line);
    line.forEach((count, j) => row.append(countCell(count, most, isOfClasses && rows[i] === columns[j], columns[j], (more) => choose(i, j, more))));
    body.append(row);
  });
  for (const heading of headings.children) heading.setAttribute("scope", "col");
  table.append(head, body);
  return table;
}

/**
 * A cell with its count, and a bar as long as the count's share of the most in its line.
 * @param {number} count
 * @param {number} most
 * @param {boolean} isRight whether it is a class that was detected as itself
 * @param {string} column
 * @param {(more: boolean) => void} choose
 */
function countCell(count, most, isRight, column, choose) {
  const cell = make("td", "number");
  const text = count.toLocaleString("en");
  if (!count) {
    cell.textContent = text;
    return cell;
  }
  const button = make("button", "explorer-count", text);
  button.type = "button";
  button.style.setProperty("--explorer-share", `${(100 * count) / most}%`);
  button.dataset.outcome = isRight ? "found" : column.split(": ").at(-1) ?? "";
  button.addEventListener("click", (event) => choose(asksForMore(event)));
  cell.append(button);
  return cell;
}
