// The table of the frame's objects, which is also how they are selected by keyboard.

import { make } from "./elements.js";
import { haveScores, headingsOf, linesOf } from "./texts.js";

/**
 * @import { Passes } from "./draw.js"
 * @import { FrameRows } from "./lives.js"
 * @import { SourceFacts } from "./source.js"
 * @import { Line } from "./texts.js"
 * @import { Selected } from "./state.js"
 *
 * @typedef {object} ObjectsTable
 * @property {HTMLElement} element
 * @property {(frames: FrameRows[], selected: Selected | null, passes: Passes | null) => void} show
 */

const MOST_LINES = 500;

/** Laying out hundreds of lines takes longer than drawing their frame, so most of them follow when stepping pauses. */
const LINES_AT_ONCE = 30;
const PAUSE = 250; // ms

const SCORE = 5; // the column of scores, which is left out where there are none
const MEASURE = 4;

/**
 * @param {SourceFacts} about
 * @param {(selected: Selected) => void} select
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
  /** @type {Selected | null} */
  let chosen = null;
  body.addEventListener("click", (event) => {
    const line = event.target instanceof Element ? event.target.closest("tr") : null;
    if (line) {
      const { submission, truth, predicted } = shown[line.sectionRowIndex];
      select(truth < 0 ? { side: "predicted", submission, row: predicted } : { side: "truth", submission, row: truth });
    }
  });
  return {
    element,
    show(frames, selected, passes) {
      const now = frames.map(({ frame, submission }) => `${frame},${submission}`).join(" ");
      if (now !== filled.key || passes !== filled.passes) fill(frames, passes);
      filled = { key: now, passes };
      chosen = selected;
      press();
    },
  };

  /** @param {FrameRows[]} frames @param {Passes | null} passes */
  function fill(frames, passes) {
    const lines = frames.flatMap((rows) => linesOf(rows, about));
    shown = lines.slice(0, MOST_LINES);
    const [many, scores] = [frames.length > 1, haveScores(frames)];
    const made = (/** @type {Line} */ line) => bodyLine(line, many ? about.submissions[line.submission] : null, scores, passes);
    head.replaceChildren(headOf(about, many, scores));
    body.replaceChildren(...shown.slice(0, LINES_AT_ONCE).map(made));
    clearTimeout(rest);
    rest = setTimeout(() => {
      body.append(...shown.slice(LINES_AT_ONCE).map(made));
      press();
    }, PAUSE);
    more.textContent = lines.length > MOST_LINES ? `and ${(lines.length - MOST_LINES).toLocaleString("en")} more` : "";
  }

  // Marks the selected line.
  function press() {
    [...body.rows].forEach((row, i) => {
      const pressed = String(isChosen(shown[i], chosen));
      const button = row.cells[0].firstElementChild;
      if (button?.getAttribute("aria-pressed") !== pressed) button?.setAttribute("aria-pressed", pressed);
    });
  }
}

/**
 * @param {Line} line
 * @param {Selected | null} selected
 */
function isChosen(line, selected) {
  return selected !== null && line[selected.side] === selected.row && line.submission === selected.submission;
}

/**
 * @param {SourceFacts} about
 * @param {boolean} many whether there is a column of submissions
 * @param {boolean} scores
 */
function headOf(about, many, scores) {
  const line = make("tr");
  const headings = headingsOf(about).filter((_, i) => scores || i !== SCORE);
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
 * @param {boolean} scores
 * @param {Passes | null} passes
 */
function bodyLine(line, submission, scores, passes) {
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
    if (i !== SCORE || scores) made.append(make("td", i === SCORE || i === MEASURE ? "number" : "", line.cells[i]));
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
