// The line above the viewer: what is filtered, which rows are marked, and their tags.

import { enable, make, makeButton } from "../../viewer/assets/elements.js";
import { counted } from "../../viewer/assets/texts.js";

const HOW = "No row is marked. A click marks an object's row; Shift or Ctrl adds others.";
const IN_PYTHON = "In Python, .selection has the marked rows, .tags the tags; .filter = \"outcome == 'FN'\" shows the misses.";

/**
 * @typedef {{n_rows: number, tagged: [string, number][], tags: [string, number][]}} Marked
 *
 * @typedef {object} Marking
 * @property {HTMLElement} element
 * @property {(text: string) => void} showFilter an empty one where there is none
 * @property {(marked: Marked) => void} showMarked
 * @property {(text: string) => void} showProblem
 */

/**
 * @param {(tag: string | null) => void} tagMarked
 * @param {() => void} unmark
 * @param {(on: boolean) => void} filterByMarked
 * @returns {Marking}
 */
export function makeMarking(tagMarked, unmark, filterByMarked) {
  const element = make("div", "explorer-lines");
  const [problem, filter, marks, tags] = ["problem", "filter", "marks", "tags"].map((name) => make("p", `explorer-${name}`));
  problem.setAttribute("role", "alert");
  marks.setAttribute("role", "status");
  const form = make("div", "explorer-form");
  const label = make("label", "", "Tag of the marked rows");
  const input = make("input");
  const options = make("datalist");
  options.id = `explorer-tags-${Math.random().toString(36).slice(2)}`;
  input.setAttribute("list", options.id);
  input.autocomplete = "off";
  label.append(input, options);
  const give = () => {
    if (!input.value.trim()) return;
    tagMarked(input.value);
    input.value = "";
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") give(); });
  const ofMarked = [
    makeButton("Tag", give), makeButton("Remove tag", () => tagMarked(null)), makeButton("Unmark all", unmark),
    makeButton("Filter by the marked rows", () => filterByMarked(true)),
  ];
  const all = makeButton("Remove the filter", () => filterByMarked(false));
  form.append(label, ...ofMarked, all, tags);
  element.append(problem, filter, marks, form, make("p", "explorer-help", IN_PYTHON));
  const show = (/** @type {HTMLElement} */ place, /** @type {string} */ text) => {
    place.textContent = text;
    place.hidden = !text;
  };
  showMarked({ n_rows: 0, tagged: [], tags: [] });
  show(problem, "");
  showFilter("");
  return { element, showFilter, showMarked, showProblem: (text) => show(problem, text) };

  /** @param {string} text */
  function showFilter(text) {
    show(filter, text);
    enable(all, text !== "");
  }

  // The lines stay where they are, whether or not something is marked, since the view would jump below a click.
  /** @param {Marked} marked */
  function showMarked({ n_rows: nRows, tagged, tags: every }) {
    const own = tagged.length ? `, tagged ${listed(tagged)}` : "";
    marks.textContent = nRows ? `${counted(nRows, "row")} marked${own}` : HOW;
    show(tags, every.length ? `All tags: ${listed(every)}` : "");
    for (const button of ofMarked) enable(button, nRows > 0);
    options.replaceChildren(...every.map(([tag]) => new Option(tag, tag)));
  }
}

/** @param {[string, number][]} tags with the count of their rows */
function listed(tags) {
  return tags.map(([tag, count]) => `${tag} (${count.toLocaleString("en")})`).join(", ");
}
