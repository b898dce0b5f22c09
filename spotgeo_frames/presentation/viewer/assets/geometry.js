// Places: what is drawn of a row, where it is on the screen, and which of many is under the pointer.

import { numbersOf, textAt } from "./columns.js";
import { objectAt } from "./lives.js";
import { maskAt, nearnessOf, ringsOf } from "./masks.js";

/**
 * @import { FrameRows, Rows, Side } from "./lives.js"
 * @import { Mask } from "./masks.js"
 * @import { Extent, SourceFacts } from "./source.js"
 *
 * @typedef {{x: number, y: number, scale: number}} Camera the point (px of the image) in the middle, and screen px per px
 * @typedef {{width: number, height: number}} Size of a canvas, in CSS px
 *
 * @typedef {object} Shape what is drawn of a row
 * @property {Side} side
 * @property {number} submission
 * @property {number} row by which it is selected
 * @property {number} mark a position in MARKS
 * @property {string} name of the object, which is also its identity
 * @property {boolean} leads whether it is the first of its object in the frame; others are further joints
 * @property {number} x of the point, or of the middle of the box
 * @property {number} y
 * @property {[x: number, y: number, w: number, h: number] | null} box before it is turned
 * @property {number} angle in radians, by which the box is turned about its middle
 * @property {Mask | null} mask of which the box is the one around it
 * @property {number[] | null} joints x and y of each joint of a pose, NaN where it is not located
 *
 * @typedef {{side: Side, joints: number[]}} Skeleton
 */

const CLOSEST = 0.5; // the least share of an area that a thumbnail shows, so that places can be told apart
const MARGIN = 1.15;
const ROOM = 2; // a patch is so many times as wide as what it shows
const OF_WHOLE = 0.1; // the share of an area that a patch shows of what has no size
const SHAPE_OF_STAGE = [0.45, 1]; // the least and greatest height for its width

/**
 * The camera that shows a whole area.
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Camera}
 */
export function fitted([left, right, top, bottom], { width, height }) {
  const scale = Math.min(width / (right - left || 1), height / (bottom - top || 1));
  return { x: (left + right) / 2, y: (top + bottom) / 2, scale };
}

/**
 * The part of an area that holds all bounds, with a margin; no smaller than CLOSEST of it.
 * @param {Extent} extent
 * @param {[x: number, y: number, w: number, h: number][]} bounds
 * @returns {Extent}
 */
export function closer([left, right, top, bottom], bounds) {
  const along = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ axis) => {
    const places = bounds.flatMap((one) => [one[axis], one[axis] + one[axis + 2]]).filter((place) => place >= low && place <= high);
    if (!places.length) return [low, high];
    const [from, to] = [Math.min(...places), Math.max(...places)];
    const size = Math.min(high - low, Math.max(MARGIN * (to - from), CLOSEST * (high - low)));
    const start = Math.max(low, Math.min((from + to - size) / 2, high - size));
    return [start, start + size];
  };
  return /** @type {Extent} */ ([...along(left, right, 0), ...along(top, bottom, 1)]);
}

/**
 * A square around bounds: twice as wide as these, and wide enough for a reach to all sides.
 * @param {Extent} whole the area that they lie in
 * @param {[x: number, y: number, w: number, h: number][]} bounds
 * @param {number} reach px
 * @returns {Extent}
 */
export function surroundings([left, right, top, bottom], bounds, reach) {
  const along = (/** @type {number} */ axis) => {
    const [low, high] = [Math.min(...bounds.map((one) => one[axis])), Math.max(...bounds.map((one) => one[axis] + one[axis + 2]))];
    return { middle: (low + high) / 2, size: high - low };
  };
  const [x, y] = [along(0), along(1)];
  const asked = Math.max((ROOM * Math.max(x.size, y.size)) / 2, ROOM * reach);
  const half = asked || (OF_WHOLE * Math.max(right - left, bottom - top)) / 2 || 1;
  return [x.middle - half, x.middle + half, y.middle - half, y.middle + half];
}

/**
 * The height of the stage for its width, within bounds.
 * @param {Extent} extent
 */
export function stageRatio([left, right, top, bottom]) {
  const ratio = (bottom - top) / (right - left);
  const [least, most] = SHAPE_OF_STAGE;
  return Number.isFinite(ratio) ? Math.min(most, Math.max(ratio, least)) : most;
}

/**
 * Zooms by a factor; the point of the image at a place of the screen stays there.
 * @param {Camera} camera
 * @param {number} factor
 * @param {{x: number, y: number}} place relative to the middle of the canvas
 * @returns {Camera}
 */
export function zoomed(camera, factor, place) {
  const scale = camera.scale * factor;
  return {
    x: camera.x + place.x / camera.scale - place.x / scale,
    y: camera.y + place.y / camera.scale - place.y / scale,
    scale,
  };
}

/**
 * Moves the image by a distance on the screen.
 * @param {Camera} camera
 * @param {number} dx
 * @param {number} dy
 * @returns {Camera}
 */
export function panned(camera, dx, dy) {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

/**
 * The shapes of one side of a frame, in file order.
 * @param {FrameRows} rows
 * @param {Side} side
 * @param {SourceFacts} about
 * @returns {Shape[]}
 */
export function shapesOf(rows, side, about) {
  const { table, at, first, n } = rows[side];
  const marks = side === "truth" ? rows.truthMarks : rows.predictedMarks;
  const [x, y] = [numbersOf(table, "x"), numbersOf(table, "y")];
  const sizes = about.kind === "boxes" && table.columns.has("w") ? [numbersOf(table, "w"), numbersOf(table, "h")] : null;
  const angles = sizes && about.angle && table.columns.has(about.angle) ? numbersOf(table, about.angle) : null;
  const poses = about.kind === "poses" ? jointColumns(table, about.joints) : null;
  const shapes = [];
  const names = new Set();
  for (let i = 0; i < n; i++) {
    const row = at + i;
    const [w, h] = sizes ? [sizes[0][row], sizes[1][row]] : [0, 0];
    if (Number.isNaN(x[row] + y[row] + w + h)) continue; // without a place nothing can be drawn
    const name = objectAt(rows[side], i);
    shapes.push({
      side,
      submission: rows.submission,
      row: first + i,
      mark: marks[i],
      name,
      leads: !names.has(name),
      x: x[row] + w / 2,
      y: y[row] + h / 2,
      box: /** @type {Shape["box"]} */ (sizes ? [x[row], y[row], w, h] : null),
      angle: ((angles?.[row] ?? 0) * Math.PI) / 180,
      mask: sizes ? maskAt(table, row) : null,
      joints: poses ? poses.map((numbers) => numbers[row]) : null,
    });
    names.add(name);
  }
  return shapes;
}

/**
 * @param {Rows["table"]} table
 * @param {string[]} joints
 */
function jointColumns(table, joints) {
  return joints.flatMap((joint) => [numbersOf(table, `x_${joint}`), numbersOf(table, `y_${joint}`)]);
}

/**
 * The skeletons that joints of the same object make; none where poses are whole, for their shapes have all joints.
 * @param {Shape[]} shapes of one side
 * @param {Rows} rows of that side
 * @param {SourceFacts} about
 * @returns {Skeleton[]}
 */
export function skeletonsOf(shapes, rows, about) {
  if (about.kind !== "joints") return [];
  /** @type {Map<string, Skeleton>} */
  const skeletons = new Map();
  const joints = rows.table.columns.get("joint");
  const places = new Map(about.joints.map((joint, place) => [joint, place]));
  for (const { name, side, row, x, y } of shapes) {
    const place = places.get(textAt(joints, rows.at + row - rows.first) ?? "");
    if (place === undefined) continue;
    const skeleton = skeletons.get(name) ?? { side, joints: Array(2 * about.joints.length).fill(NaN) };
    skeletons.set(name, skeleton);
    [skeleton.joints[2 * place], skeleton.joints[2 * place + 1]] = [x, y];
  }
  return [...skeletons.values()];
}

/**
 * The paths of objects through frames: the middle of each object's shapes in each frame, oldest first.
 * @param {Shape[][]} frames the shapes of each frame
 * @returns {Map<string, number[]>} x and y of each point by the object's name
 */
export function pathsOf(frames) {
  /** @type {Map<string, number[]>} */
  const paths = new Map();
  for (const shapes of frames) {
    /** @type {Map<string, {x: number, y: number, n: number}>} */
    const middles = new Map();
    for (const { name, x, y } of shapes) {
      const sum = middles.get(name) ?? { x: 0, y: 0, n: 0 };
      middles.set(name, { x: sum.x + x, y: sum.y + y, n: sum.n + 1 });
    }
    for (const [name, { x, y, n }] of middles) {
      const path = paths.get(name) ?? [];
      paths.set(name, path);
      path.push(x / n, y / n);
    }
  }
  return paths;
}

/**
 * The shape that a point of the image means: the nearest line or mark within reach, else the smallest box around it.
 * @param {Shape[]} shapes
 * @param {[number, number][]} bones
 * @param {number} x
 * @param {number} y
 * @param {number} reach in px of the image
 * @returns {Shape | null}
 */
export function nearest(shapes, bones, x, y, reach) {
  let [best, least, size] = [/** @type {Shape | null} */ (null), reach, Infinity];
  for (const shape of shapes) {
    const distance = distanceTo(shape, bones, x, y, reach);
    const area = shape.box ? shape.box[2] * shape.box[3] : 0;
    if (distance < least || (distance === least && area < size)) [best, least, size] = [shape, distance, area];
  }
  return best;
}

/**
 * @param {Shape} shape
 * @param {[number, number][]} bones
 * @param {number} x
 * @param {number} y
 * @param {number} reach the distance that counts within a box or a mask
 * @returns {number}
 */
function distanceTo(shape, bones, x, y, reach) {
  if (shape.mask) return distanceToMask(shape, x, y, reach);
  if (shape.box) return distanceToBox(shape.box, ...turned(shape, x, y, -shape.angle), reach);
  if (!shape.joints) return Math.hypot(shape.x - x, shape.y - y);
  const joints = shape.joints;
  let least = Infinity;
  for (let i = 0; i < joints.length; i += 2) {
    const distance = Math.hypot(joints[i] - x, joints[i + 1] - y);
    if (distance < least) least = distance;
  }
  for (const [a, b] of bones) {
    const distance = distanceToLine(joints[2 * a], joints[2 * a + 1], joints[2 * b], joints[2 * b + 1], x, y);
    if (distance < least) least = distance; // NaN, of a joint that is not located, is not less
  }
  return least;
}

/**
 * A place turned about the middle of a shape.
 * @param {{x: number, y: number}} middle
 * @param {number} x
 * @param {number} y
 * @param {number} angle in radians
 * @returns {[number, number]}
 */
function turned(middle, x, y, angle) {
  const [dx, dy, cosine, sine] = [x - middle.x, y - middle.y, Math.cos(angle), Math.sin(angle)];
  return [middle.x + dx * cosine - dy * sine, middle.y + dx * sine + dy * cosine];
}

/**
 * The corners of the box of a shape, in turn, px of the image.
 * @param {Shape} shape that has a box
 * @returns {[number, number][]}
 */
export function cornersOf(shape) {
  const [x, y, w, h] = shape.box ?? [shape.x, shape.y, 0, 0];
  const corners = [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
  return corners.map(([left, top]) => turned(shape, left, top, shape.angle));
}

/**
 * @param {[number, number, number, number]} box
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
function distanceToBox([left, top, w, h], x, y, reach) {
  const [dx, dy] = [Math.max(left - x, x - left - w), Math.max(top - y, y - top - h)];
  if (dx <= 0 && dy <= 0) return Math.min(reach, -Math.max(dx, dy));
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0));
}

/**
 * @param {Shape} shape
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
function distanceToMask({ box, mask }, x, y, reach) {
  const around = box ? distanceToBox(box, x, y, reach) : Infinity;
  if (!mask || around > reach) return around;
  if (!ringsOf(mask).length) return around; // without pixels, its box is drawn
  const { distance, inside } = nearnessOf(mask, x, y);
  return inside ? Math.min(reach, distance) : distance;
}

/**
 * @param {number} ax
 * @param {number} ay
 * @param {number} bx
 * @param {number} by
 * @param {number} x
 * @param {number} y
 */
function distanceToLine(ax, ay, bx, by, x, y) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
  const place = Math.max(0, Math.min(1, along));
  return Math.hypot(ax + place * dx - x, ay + place * dy - y);
}
