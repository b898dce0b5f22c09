// Strokes marks on a canvas: points, boxes, masks and skeletons, told apart by their shapes, lines and dashes.

import { cornersOf } from "./geometry.js";
import { FALSE, IGNORED, RIGHT } from "./marks.js";
import { ringsOf } from "./masks.js";

/**
 * @import { Shape, Size } from "./geometry.js"
 * @import { Mask } from "./masks.js"
 * @import { Palette } from "./palette.js"
 * @import { SourceFacts } from "./source.js"
 *
 * @typedef {(x: number, y: number) => [number, number]} Projection from px of the image to px of the screen
 * @typedef {(path: Path2D, color: string, width: number, dashes: number[], alpha: number, filled?: boolean) => void} Pen
 */

/** How each mark is drawn: the width of its lines and their dashes, in CSS px. */
const LINES = [
  { width: 1.8, dashes: [] },
  { width: 3.6, dashes: [] },
  { width: 1.8, dashes: [5, 3] },
  { width: 3.2, dashes: [7, 4] },
  { width: 1.6, dashes: [1.5, 3] },
];
export const RADIUS = 6;
export const JOINT_RADIUS = 4; // of a joint that is matched by itself
const POSE_RADIUS = 2.5; // of a joint of a pose
const SMALLEST = 4; // a box that would be smaller is drawn with this side, so that it is seen
export const PALE = 0.22;
const FILL = 0.2; // the opacity of what is filled
const FINEST = 2; // corners that are nearer to each other than this on the screen are drawn as one
const RIM = 2.6;

/**
 * Draws one mark by itself, as a legend needs it.
 * @param {CanvasRenderingContext2D} context
 * @param {SourceFacts} about
 * @param {number} mark
 * @param {string} color
 * @param {Palette} palette
 * @param {Size} size
 */
export function drawSymbol(context, { kind, filled }, mark, color, palette, { width, height }) {
  const pen = penOf(context, palette);
  context.clearRect(0, 0, width, height);
  const path = new Path2D();
  if (kind === "boxes") path.rect(4, 4, width - 8, height - 8);
  else if (kind === "poses") addLine(path, [[3, height - 4], [width / 2, 4], [width - 3, height - 4]]);
  else addPoint(path, mark, width / 2, height / 2, RADIUS);
  pen(path, color, LINES[mark].width, kind === "points" || kind === "joints" ? dashesOfPoint(mark) : LINES[mark].dashes, 1, filled);
}

/**
 * A function that strokes paths, with a rim on pictures, and fills them where that is asked for.
 * @param {CanvasRenderingContext2D} context
 * @param {Palette} palette
 * @returns {Pen}
 */
export function penOf(context, palette) {
  return (path, color, width, dashes, alpha, filled = false) => {
    if (filled) {
      context.globalAlpha = FILL * alpha;
      context.fillStyle = color;
      context.fill(path);
    }
    context.globalAlpha = alpha;
    context.setLineDash(dashes);
    if (palette.rim) {
      context.strokeStyle = "rgb(0 0 0 / 0.7)";
      context.lineWidth = width + RIM;
      context.stroke(path);
    }
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke(path);
    context.globalAlpha = 1;
  };
}

/**
 * Strokes a shape as one that has a mark. `grown` px larger, it is a ring around what is there.
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Shape} shape
 * @param {number} mark
 * @param {SourceFacts} about
 * @param {string} color
 * @param {number} alpha
 * @param {number} grown
 */
export function strokeShape(pen, project, shape, mark, about, color, alpha, grown) {
  const { width, dashes } = LINES[mark];
  if (shape.joints) {
    strokeBones(pen, project, shape.joints, about.bones, color, width + grown, dashes, alpha);
    if (!grown) strokeJoints(pen, project, shape.joints, mark, color, alpha);
    return;
  }
  if (shape.mask && isSeen(shape, project) && ringsOf(shape.mask).length) {
    pen(placedOutline(shape.mask, project), color, width + 2 * grown, dashes, alpha, !grown);
    return;
  }
  const path = new Path2D();
  const radius = about.kind === "joints" ? JOINT_RADIUS : RADIUS;
  if (shape.box && shape.angle) addTurnedBox(path, project, shape, grown);
  else if (shape.box) addBox(path, project, shape.box, grown);
  else addPoint(path, mark, ...project(shape.x, shape.y), radius + grown);
  pen(path, color, width, shape.box ? dashes : dashesOfPoint(mark), alpha);
}

/** @type {WeakMap<Mask, Map<number, Path2D>>} the outlines of masks that were drawn, px of the image, by their detail */
const OUTLINES = new WeakMap();

/**
 * Whether a mask is large enough on the screen; of a smaller one the box is drawn, so that it is seen.
 * @param {Shape} shape
 * @param {Projection} project
 */
function isSeen(shape, project) {
  const [x, y, w, h] = boundsOf(shape);
  const [[left, top], [right, bottom]] = [project(x, y), project(x + w, y + h)];
  return Math.max(right - left, bottom - top) >= SMALLEST;
}

/**
 * The outline of a mask on the screen, without corners that cannot be told apart there.
 * @param {Mask} mask
 * @param {Projection} project
 */
function placedOutline(mask, project) {
  const [[left, top], [right]] = [project(0, 0), project(1, 0)];
  const scale = right - left;
  const detail = Math.floor(Math.log2(FINEST / scale));
  const placed = new Path2D();
  placed.addPath(outlineOf(mask, Math.max(detail, -1)), new DOMMatrix([scale, 0, 0, scale, left, top]));
  return placed;
}

/**
 * @param {Mask} mask
 * @param {number} detail corners have to be farther than 2 to the power of this from the one before, px of the image
 */
function outlineOf(mask, detail) {
  const ofMask = OUTLINES.get(mask) ?? new Map();
  OUTLINES.set(mask, ofMask);
  const path = ofMask.get(detail) ?? new Path2D();
  if (ofMask.has(detail)) return path;
  const apart = 2 ** detail;
  for (const ring of ringsOf(mask)) {
    let [x, y] = ring;
    path.moveTo(x, y);
    for (let i = 2; i < ring.length; i += 2) {
      if (Math.abs(ring[i] - x) <= apart && Math.abs(ring[i + 1] - y) <= apart) continue;
      [x, y] = [ring[i], ring[i + 1]];
      path.lineTo(x, y);
    }
    path.closePath();
  }
  ofMask.set(detail, path);
  return path;
}

/**
 * The dashes of points: their lines are too short for any but dots.
 * @param {number} mark
 */
function dashesOfPoint(mark) {
  return mark === IGNORED ? LINES[mark].dashes : [];
}

/**
 * @param {Pen} pen
 * @param {Projection} project
 * @param {number[]} joints x and y of each
 * @param {[number, number][]} bones
 * @param {string} color
 * @param {number} width
 * @param {number[]} dashes
 * @param {number} alpha
 */
export function strokeBones(pen, project, joints, bones, color, width, dashes, alpha) {
  const path = new Path2D();
  for (const [a, b] of bones) {
    const ends = [joints[2 * a], joints[2 * a + 1], joints[2 * b], joints[2 * b + 1]];
    if (!ends.some(Number.isNaN)) addLine(path, [project(ends[0], ends[1]), project(ends[2], ends[3])]);
  }
  pen(path, color, width, dashes, alpha);
}

/**
 * @param {Pen} pen
 * @param {Projection} project
 * @param {number[]} joints
 * @param {number} mark
 * @param {string} color
 * @param {number} alpha
 */
function strokeJoints(pen, project, joints, mark, color, alpha) {
  const path = new Path2D();
  for (let i = 0; i < joints.length; i += 2) {
    if (!Number.isNaN(joints[i])) addPoint(path, mark, ...project(joints[i], joints[i + 1]), POSE_RADIUS);
  }
  pen(path, color, 1.8, [], alpha);
}

/**
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Shape} shape
 * @param {Palette} palette
 * @param {number} width
 */
export function strokeHalo(pen, project, shape, palette, width) {
  const [x, y, w, h] = boundsOf(shape);
  const [left, top] = project(x, y);
  const [right, bottom] = project(x + w, y + h);
  const room = shape.box || shape.joints ? 6 : RADIUS + 6;
  const path = new Path2D();
  path.roundRect(left - room, top - room, right - left + 2 * room, bottom - top + 2 * room, 4);
  pen(path, palette.chosen, width, [], 1);
}

/**
 * The left, top, width and height (px of the image) of a shape.
 * @param {Shape} shape
 * @returns {[number, number, number, number]}
 */
export function boundsOf(shape) {
  if (shape.box && shape.angle) return around(cornersOf(shape));
  if (shape.box) return shape.box;
  const xs = (shape.joints ?? [shape.x, shape.y]).filter((value, i) => i % 2 === 0 && !Number.isNaN(value));
  const ys = (shape.joints ?? [shape.x, shape.y]).filter((value, i) => i % 2 === 1 && !Number.isNaN(value));
  if (!xs.length) return [shape.x, shape.y, 0, 0];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

/**
 * The left, top, width and height of the smallest upright box around points.
 * @param {[number, number][]} points
 * @returns {[number, number, number, number]}
 */
function around(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

/**
 * @param {Path2D} path
 * @param {[number, number][]} points
 */
export function addLine(path, points) {
  points.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
}

/**
 * @param {Path2D} path
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
function addDot(path, x, y, radius) {
  path.moveTo(x + radius, y);
  path.arc(x, y, radius, 0, 2 * Math.PI);
}

/**
 * A circle for truths and what is ignored, a plus for right predictions, a cross for false ones.
 * @param {Path2D} path
 * @param {number} mark
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
function addPoint(path, mark, x, y, radius) {
  if (mark === RIGHT) {
    addLine(path, [[x - radius, y], [x + radius, y]]);
    addLine(path, [[x, y - radius], [x, y + radius]]);
  } else if (mark === FALSE) {
    addLine(path, [[x - radius, y - radius], [x + radius, y + radius]]);
    addLine(path, [[x - radius, y + radius], [x + radius, y - radius]]);
  } else addDot(path, x, y, radius);
}

/**
 * @param {Path2D} path
 * @param {Projection} project
 * @param {[number, number, number, number]} box
 * @param {number} grown
 */
function addBox(path, project, [x, y, w, h], grown) {
  const [left, top] = project(x, y);
  const [right, bottom] = project(x + w, y + h);
  const [across, down] = [Math.max(right - left, SMALLEST), Math.max(bottom - top, SMALLEST)];
  path.rect(left - grown, top - grown, across + 2 * grown, down + 2 * grown);
}

/**
 * @param {Path2D} path
 * @param {Projection} project
 * @param {Shape} shape whose box is turned
 * @param {number} grown
 */
function addTurnedBox(path, project, shape, grown) {
  const [x, y] = project(shape.x, shape.y);
  const corners = cornersOf(shape).map((corner) => project(...corner));
  const farthest = Math.hypot(corners[0][0] - x, corners[0][1] - y) || 1;
  const larger = Math.max(1 + (Math.SQRT2 * grown) / farthest, SMALLEST / Math.SQRT2 / farthest);
  addLine(path, corners.map(([left, top]) => [x + larger * (left - x), y + larger * (top - y)]));
  path.closePath();
}
