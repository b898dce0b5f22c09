// The table of the frame's objects, which is also how they are selected by keyboard.

import { asksForMore, make } from "./elements.js";
import { changedTruths } from "./gains.js";
import { countOfLines, haveKinds, haveScores, headingsOf, linesOf } from "./texts.js";

/**
 * @import { Passes } from "./draw.js"
 * @import { FrameRows } from "./lives.js"
 * @import { SourceFacts } from "./source.js"
 * @import { Line } from "./texts.js"
 * @import { Selected } from "./state.js"
 *
 * @typedef {object} ObjectsTable
 * @property {HTMLElement} element
 * @property {(frames: FrameRows[], chosen: (one: Selected) => boolean, passes: Passes | null) => void} show
 */

const MOST_LINES = 500;

/** Laying out hundreds of lines takes longer than drawing their frame, so most of them follow when stepping pauses. */
const LINES_AT_ONCE = 30;
const PAUSE = 250; // ms

// The columns of a kind of error, of the measure, and of scores, by their position.
const [KIND, MEASURE, SCORE] = [1, 4, 5];

/**
 * @param {SourceFacts} about
 * @param {(selected: Selected, more: boolean) => void} select
 * @returns {ObjectsTable}
 */
export function makeObjectsTable(about, select) {
  const element = make("div", "viewer-objects");
  const scroll = make("div", "viewer-scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Objects of the frame");
  const table = make("table");
  const more = make("p", "viewer-more");
  const head = table.createTHead();
  const body = table.createTBody();
  table.prepend(make("caption", "", "Objects of the frame"));
  scroll.append(table);
  element.append(scroll, more);
  /** @type {Line[]} */
  let shown = [];
  let rest = 0;
  /** @type {{key: string, passes: Passes | null}} */
  let filled = { key: "", passes: null };
  /** @type {(one: Selected) => boolean} */
  let isChosen = () => false;
  body.addEventListener("click", (event) => {
    const line = event.target instanceof Element ? event.target.closest("tr") : null;
    if (line) {
      select(objectsOf(shown[line.sectionRowIndex])[0], asksForMore(event));
    }
  });
  return {
    element,
    show(frames, chosen, passes) {
      const now = frames.map(({ frame, submission }) => `${frame},${submission}`).join(" ");
      if (now !== filled.key || passes !== filled.passes) fill(frames, passes);
      filled = { key: now, passes };
      isChosen = chosen;
      press();
    },
  };

  /** @param {FrameRows[]} frames @param {Passes | null} passes */
  function fill(frames, passes) {
    const changed = changedTruths(frames);
    const lines = frames.flatMap((rows) => linesOf(rows, about, MOST_LINES)).slice(0, MOST_LINES);
    shown = lines.map((line) => {
      const change = changed.get(line.truth);
      return change ? withChange(line, `${change} by ${about.submissions[frames[1].submission]}`) : line;
    });
    const nLines = frames.map(countOfLines).reduce((a, b) => a + b, 0);
    const many = frames.length > 1;
    const leftOut = new Set([...(haveKinds(frames) ? [] : [KIND]), ...(haveScores(frames) ? [] : [SCORE])]);
    const made = (/** @type {Line} */ line) => bodyLine(line, many ? about.submissions[line.submission] : null, leftOut, passes);
    head.replaceChildren(headOf(about, many, leftOut));
    body.replaceChildren(...shown.slice(0, LINES_AT_ONCE).map(made));
    clearTimeout(rest);
    rest = setTimeout(() => {
      body.append(...shown.slice(LINES_AT_ONCE).map(made));
      press();
    }, PAUSE);
    more.textContent = nLines > MOST_LINES ? `and ${(nLines - MOST_LINES).toLocaleString("en")} more` : "";
  }

  // Marks the selected line.
  function press() {
    [...body.rows].forEach((row, i) => {
      const pressed = String(objectsOf(shown[i]).some(isChosen));
      const button = row.cells[0].firstElementChild;
      if (button?.getAttribute("aria-pressed") !== pressed) button?.setAttribute("aria-pressed", pressed);
    });
  }
}

/**
 * A line that tells what became of its truth beside its outcome.
 * @param {Line} line
 * @param {string} change
 * @returns {Line}
 */
function withChange(line, change) {
  const [outcome, ...others] = line.cells;
  return { ...line, cells: [`${outcome} (${change})`, ...others] };
}

/**
 * The objects of a line: its truth and its prediction, as far as it has them.
 * @param {Line} line
 * @returns {Selected[]}
 */
function objectsOf({ submission, truth, predicted }) {
  /** @type {Selected[]} */
  const objects = [{ side: "truth", submission, row: truth }, { side: "predicted", submission, row: predicted }];
  return objects.filter(({ row }) => row >= 0);
}

/**
 * @param {SourceFacts} about
 * @param {boolean} many whether there is a column of submissions
 * @param {Set<number>} leftOut columns that would say nothing
 */
function headOf(about, many, leftOut) {
  const line = make("tr");
  const headings = headingsOf(about).filter((_, i) => !leftOut.has(i));
  if (many) headings.splice(1, 0, { title: "submission", numeric: false });
  for (const { title, numeric } of headings) {
    const cell = make("th", numeric ? "number" : "", title);
    cell.scope = "col";
    line.append(cell);
  }
  return line;
}

/**
 * @param {Line} line
 * @param {string | null} submission its name, where several are shown
 * @param {Set<number>} leftOut columns that would say nothing
 * @param {Passes | null} passes
 */
function bodyLine(line, submission, leftOut, passes) {
  const made = make("tr", passesLine(line, passes) ? "" : "viewer-pale");
  const heading = make("th");
  heading.scope = "row";
  const button = make("button", "", line.cells[0]);
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  heading.append(button);
  made.append(heading);
  if (submission !== null) made.append(make("td", "", submission));
  for (let i = 1; i < line.cells.length; i++) {
    if (!leftOut.has(i)) made.append(make("td", i === SCORE || i === MEASURE ? "number" : "", line.cells[i]));
  }
  return made;
}

/**
 * @param {Line} line
 * @param {Passes | null} passes
 */
function passesLine({ submission, truth, predicted }, passes) {
  return !passes || passes.truth[submission][truth] === 1 || passes.predicted[submission][predicted] === 1;
}
