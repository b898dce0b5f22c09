// A scatter of any two columns of numbers. What is drawn around marks the rows within.

import { sharp } from "../../viewer/assets/draw.js";
import { asksForMore, make, makeSelect } from "../../viewer/assets/elements.js";
import { FALSE, FOUND, MISSED } from "../../viewer/assets/marks.js";
import { palettesOf } from "../../viewer/assets/palette.js";

/**
 * @import { Palette } from "../../viewer/assets/palette.js"
 * @import { ColumnNames, Part } from "./counts.js"
 * @import { Kernel, Message } from "./kernel.js"
 *
 * @typedef {object} Cloud the points of a scatter
 * @property {Ends} ends of its axes
 * @property {Float64Array} x
 * @property {Float64Array} y
 * @property {Uint8Array} outcome found, missed or false
 * @property {Uint8Array} marked
 * @property {{x: string, y: string}} names of the columns
 * @property {number} nRows how many rows there are, which may be more than points
 *
 * @typedef {(x: number, y: number) => [number, number]} Place of values on the canvas
 * @typedef {{x: [number, number], y: [number, number]}} Ends the least and the greatest values
 */

const MARK_OF = [FOUND, MISSED, FALSE];
const LEGEND = [["● found", "found"], ["■ missed", "missed"], ["■ false", "false"]];
const HOW_LASSO = "Draw around points to mark their rows; Shift or Ctrl adds them. Without a mouse, ask for the same numbers by .filter in Python.";
const ROOM_LEFT = 56;
const ROOM_BELOW = 34;
const ROOM_BESIDE = 12;
const RING_RADIUS = 5.5; // of what is marked
const APART = 4; // px between two corners of a lasso
const MOST_OF_LASSO = 400; // corners that the kernel takes
const AXIS_FONT = "12px system-ui, sans-serif";

/**
 * @param {Kernel} kernel
 * @param {ColumnNames} columns
 * @returns {Part}
 */
export function makeScatter(kernel, { numbers }) {
  const usual = [["truth_x", "truth_y"], ["predicted_x", "predicted_y"], numbers].find(([x, y]) => numbers.includes(x) && numbers.includes(y)) ?? numbers;
  let names = { x: usual[0], y: usual[1] ?? usual[0] };
  const choices = /** @type {const} */ (["x", "y"]).map((axis) => {
    const { label, select } = makeSelect(`${axis} axis`, numbers, (i) => { names = { ...names, [axis]: numbers[i] }; show(); });
    select.selectedIndex = numbers.indexOf(names[axis]);
    return label;
  });
  const [element, form, status, canvas] = [make("div"), make("div", "viewer-controls"), make("p", "explorer-help"), make("canvas", "explorer-scatter")];
  canvas.setAttribute("role", "img");
  form.append(...choices);
  const legend = make("p", "explorer-legend");
  for (const [text, outcome] of LEGEND) {
    const entry = make("span", "", text);
    entry.dataset.outcome = outcome;
    legend.append(entry);
  }
  element.append(form, make("p", "explorer-help", HOW_LASSO), canvas, legend, status);
  /** @type {Cloud | null} */
  let cloud = null;
  /** @type {[number, number][]} */
  let lasso = []; // px of the canvas
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  listenToLasso(canvas, (corners) => { lasso = corners; draw(); }, choose);
  return { element, show, follows: () => true };

  async function show() {
    const asked = names;
    const message = await kernel.ask("points", asked);
    if (asked !== names) return; // something else was asked meanwhile
    cloud = readCloud(message, asked);
    const { length } = cloud.x;
    const nRows = cloud.nRows.toLocaleString("en");
    status.textContent = length < cloud.nRows ? `${length.toLocaleString("en")} of ${nRows} rows are drawn; a line around them marks all that it holds.` : `${nRows} rows have both numbers.`;
    canvas.setAttribute("aria-label", `${asked.y} over ${asked.x}, ${nRows} rows`);
    draw();
  }

  // Whether the values go down: those of places in an image do.
  function isDownward() {
    return cloud !== null && ["truth_y", "predicted_y"].includes(cloud.names.y);
  }

  function draw() {
    if (!cloud || !canvas.clientWidth) return;
    const size = { width: canvas.clientWidth, height: canvas.clientHeight };
    const { plain } = palettesOf(canvas);
    const { ends } = cloud;
    const context = sharp(canvas, size);
    context.clearRect(0, 0, size.width, size.height);
    const placed = placing(ends, size, isDownward());
    drawAxes(context, ends, placed, cloud.names, plain);
    drawCloud(context, cloud, placed, plain);
    drawLasso(context, lasso, plain);
  }

  /** @param {[number, number][]} corners px of the canvas @param {boolean} more */
  function choose(corners, more) {
    lasso = [];
    if (cloud && corners.length > 2) {
      const size = { width: canvas.clientWidth, height: canvas.clientHeight };
      const values = valuing(cloud.ends, size, isDownward());
      kernel.tell("choose", { ...cloud.names, corners: fewer(corners).map(([x, y]) => values(x, y)), more });
    }
    draw();
  }
}

/** @param {Message} message @param {{x: string, y: string}} names @returns {Cloud} */
function readCloud({ content, buffers: [acrosses, downs, outcome, marked] }, names) {
  const [x, y] = [new Float64Array(acrosses), new Float64Array(downs)];
  const ends = { x: endsOf(x), y: endsOf(y) };
  return { names, ends, x, y, outcome: new Uint8Array(outcome), marked: new Uint8Array(marked), nRows: content.n_rows };
}

/**
 * The ends of an axis, a little beyond its values.
 * @param {Float64Array} values
 * @returns {[number, number]}
 */
function endsOf(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  if (least > most) return [0, 1];
  const room = (most - least) * 0.03 || 0.5;
  return [least - room, most + room];
}

/**
 * Where values are on the canvas.
 * @param {Ends} ends
 * @param {{width: number, height: number}} size
 * @param {boolean} downward
 * @returns {Place}
 */
export function placing({ x: [left, right], y: [low, high] }, { width, height }, downward) {
  const [across, down] = [width - ROOM_LEFT - ROOM_BESIDE, height - ROOM_BELOW - ROOM_BESIDE];
  return (x, y) => {
    const share = (y - low) / (high - low);
    return [ROOM_LEFT + (across * (x - left)) / (right - left), ROOM_BESIDE + down * (downward ? share : 1 - share)];
  };
}

/**
 * Which values a place of the canvas has.
 * @param {Ends} ends
 * @param {{width: number, height: number}} size
 * @param {boolean} downward
 * @returns {Place}
 */
export function valuing({ x: [left, right], y: [low, high] }, { width, height }, downward) {
  const [across, down] = [width - ROOM_LEFT - ROOM_BESIDE, height - ROOM_BELOW - ROOM_BESIDE];
  return (px, py) => {
    const share = (py - ROOM_BESIDE) / down;
    return [left + ((right - left) * (px - ROOM_LEFT)) / across, low + (high - low) * (downward ? share : 1 - share)];
  };
}

/**
 * A lasso with as many corners as the kernel takes.
 * @param {[number, number][]} corners
 */
export function fewer(corners) {
  const step = Math.ceil(corners.length / MOST_OF_LASSO);
  return corners.filter((_, i) => i % step === 0);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Ends} ends
 * @param {Place} placed
 * @param {{x: string, y: string}} names
 * @param {Palette} palette
 */
function drawAxes(context, { x: [left, right], y: [low, high] }, placed, names, palette) {
  const text = (/** @type {number} */ value) => String(Number(value.toPrecision(4)));
  const [[x1, y1], [x2, y2]] = [placed(left, low), placed(right, high)];
  const [top, bottom] = [Math.min(y1, y2), Math.max(y1, y2)];
  context.strokeStyle = palette.ink;
  context.lineWidth = 1;
  context.strokeRect(x1, top, x2 - x1, bottom - top);
  context.font = AXIS_FONT;
  context.fillStyle = palette.ink;
  context.textBaseline = "top";
  for (const [value, align, x] of /** @type {const} */ ([[left, "left", x1], [right, "right", x2]])) {
    context.textAlign = align;
    context.fillText(text(value), x, bottom + 4);
  }
  context.textAlign = "center";
  context.fillText(names.x, (x1 + x2) / 2, bottom + 18);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [value, y] of [[low, y1], [high, y2]]) context.fillText(text(value), x1 - 4, Math.min(Math.max(y, top + 6), bottom - 6));
  context.save();
  context.translate(10, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(names.y, 0, 0);
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Cloud} cloud
 * @param {Place} placed
 * @param {Palette} palette
 */
function drawCloud(context, { x, y, outcome, marked }, placed, palette) {
  for (const isMarked of [0, 1]) {
    for (let i = 0; i < x.length; i++) {
      if (marked[i] !== isMarked) continue;
      const [px, py] = placed(x[i], y[i]);
      context.fillStyle = palette.marks[MARK_OF[outcome[i]]];
      // Found ones are round, others are square, so that not colour alone tells them apart.
      context.beginPath();
      if (outcome[i] === 0) context.arc(px, py, 2.5, 0, 2 * Math.PI);
      else context.rect(px - 2.5, py - 2.5, 5, 5);
      context.fill();
      if (!isMarked) continue;
      context.beginPath();
      context.arc(px, py, RING_RADIUS, 0, 2 * Math.PI);
      context.strokeStyle = palette.chosen;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number][]} corners
 * @param {Palette} palette
 */
function drawLasso(context, corners, palette) {
  if (corners.length < 2) return;
  context.beginPath();
  for (const [x, y] of corners) context.lineTo(x, y);
  context.closePath();
  context.strokeStyle = palette.chosen;
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  context.stroke();
  context.setLineDash([]);
}

/**
 * Follows a pointer that draws a line around.
 * @param {HTMLCanvasElement} canvas
 * @param {(corners: [number, number][]) => void} drawn while it is drawn
 * @param {(corners: [number, number][], more: boolean) => void} done
 */
function listenToLasso(canvas, drawn, done) {
  /** @type {[number, number][] | null} */
  let corners = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    corners = [[event.offsetX, event.offsetY]];
  });
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    const last = corners?.at(-1);
    if (!corners || !last || Math.hypot(offsetX - last[0], offsetY - last[1]) < APART) return;
    corners.push([offsetX, offsetY]);
    drawn(corners);
  });
  canvas.addEventListener("pointercancel", () => { corners = null; drawn([]); });
  canvas.addEventListener("pointerup", (event) => {
    if (corners) done(corners, asksForMore(event));
    corners = null;
  });
}
