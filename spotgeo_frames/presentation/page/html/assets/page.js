// The page: reads its data, and sets up tables, charts and frames. All text is inserted as text, never as HTML.

import { inflated, readView } from "../../../viewer/assets/columns.js";
import { make } from "../../../viewer/assets/elements.js";
import { drawChart } from "./charts.js";
import { setUpContents } from "./contents.js";
import { makeFramesSection } from "./frames_section.js";
import { conditionsOf } from "./links.js";
import { setUpTable } from "./tables.js";

/**
 * @import { About } from "../../../viewer/assets/columns.js"
 * @import { Picture } from "../../../viewer/assets/source.js"
 * @import { Spec, VegaView } from "./charts.js"
 * @import { FramesSection, Look } from "./frames_section.js"
 * @import { Condition } from "./filters.js"
 * @import { TableData } from "./tables.js"
 *
 * @typedef {object} PageData
 * @property {string} dash
 * @property {number} rows_shown
 * @property {{[name: string]: TableData}} tables
 * @property {{[name: string]: Spec}} charts
 * @property {string[]} names of the submissions
 * @property {string[]} short_names the same, as charts have them
 * @property {About | null} view null where the page has no section of frames
 * @property {[frame: number, picture: Picture][]} pictures
 * @property {Look[]} looks the frames of the first screen
 */

const pageData = /** @type {PageData} */ (JSON.parse(textOf("data")));
setUpPage(pageData);

/** @param {PageData} data */
async function setUpPage(data) {
  setUpContents();
  const frames = await setUpFrames(data);
  for (const table of document.querySelectorAll("table[data-table]")) {
    if (table instanceof HTMLTableElement) setUpTable(table, data.tables[table.dataset.table ?? ""], data, frames);
  }
  checkCells(frames);
  drawLooks(data, frames);
  const pick = frames && ((/** @type {Condition[]} */ conditions) => {
    frames.jump(conditions.map((condition) => withFullNames(data, condition)));
  });
  const views = new Map();
  for (const place of document.querySelectorAll("[data-chart]")) {
    if (!(place instanceof HTMLElement)) continue;
    try {
      views.set(place, await drawChart(place, data.charts[place.dataset.chart ?? ""], pick));
    } catch (error) { // the other charts are drawn nevertheless
      place.textContent = "This chart cannot be drawn.";
      console.error(error);
    }
  }
  setUpPicks(data, views);
  document.documentElement.dataset.drawn = "yes"; // programs that wait for all charts read this
}

/**
 * Leaves as plain text the cells of matrices whose rows the page does not have.
 * @param {FramesSection | null} frames
 */
function checkCells(frames) {
  for (const link of document.querySelectorAll("a[data-cell]")) {
    if (!(link instanceof HTMLAnchorElement) || frames?.canShow(conditionsOf(link.hash))) continue;
    const text = make("span");
    text.append(...link.childNodes);
    text.title = "This page cannot show these frames";
    link.replaceWith(text);
  }
}

/**
 * Draws the frames of the first screen, again where the paper turns dark or light.
 * @param {PageData} data
 * @param {FramesSection | null} frames
 */
function drawLooks({ looks }, frames) {
  const draw = () => {
    for (const canvas of document.querySelectorAll("canvas[data-look]")) {
      if (canvas instanceof HTMLCanvasElement) frames?.draw(looks[Number(canvas.dataset.look)], canvas);
    }
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

/**
 * @param {PageData} data
 * @returns {Promise<FramesSection | null>}
 */
async function setUpFrames(data) {
  const section = document.getElementById("frames");
  if (!section || !data.view) return null;
  try {
    const view = readView(data.view, await inflated(textOf("content")));
    return await makeFramesSection(section, view, new Map(data.pictures));
  } catch (error) { // charts and tables are drawn nevertheless
    section.append(make("p", "", "The frames cannot be shown by this browser."));
    console.error(error);
    return null;
  }
}

/**
 * Lets the reader choose the submission that the charts of places and distances show.
 * @param {PageData} data
 * @param {Map<HTMLElement, VegaView>} views
 */
function setUpPicks(data, views) {
  const select = document.getElementById("picked");
  if (!(select instanceof HTMLSelectElement)) return;
  select.replaceChildren(...data.names.map((name) => new Option(name)));
  select.addEventListener("change", () => {
    for (const [place, view] of views) {
      if (place.closest("#places")) view.signal("picked", data.short_names[select.selectedIndex]).runAsync();
    }
  });
}

/**
 * A condition from a chart, which calls submissions by their short names, with their full names.
 * @param {PageData} data
 * @param {Condition} condition
 * @returns {Condition}
 */
function withFullNames({ short_names: shortNames, names }, condition) {
  if (condition.column !== "submission" || !("is" in condition)) return condition;
  return { ...condition, is: condition.is.map((name) => names[shortNames.indexOf(name)] ?? name) };
}

/** @param {string} id */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}
