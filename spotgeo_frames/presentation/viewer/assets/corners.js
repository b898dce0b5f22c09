// Draws the marks around what a submission gains or loses: corners that hold it, or rays that lead away from it.

import { addLine, boundsOf, JOINT_RADIUS, penOf, RADIUS } from "./strokes.js";

/**
 * @import { Change } from "./gains.js"
 * @import { Shape, Size } from "./geometry.js"
 * @import { Palette } from "./palette.js"
 * @import { SourceFacts } from "./source.js"
 * @import { Pen, Projection } from "./strokes.js"
 *
 * @typedef {{left: number, top: number, right: number, bottom: number}} Around on the screen
 */

const AWAY = 11; // CSS px from a shape, so that the rings of two submissions and a halo lie between
const ARM_LENGTH = 6;
const THICKNESS = 3;

/**
 * Where the marks around a shape are.
 * @param {Shape} shape
 * @param {SourceFacts} about
 * @param {Projection} project
 * @returns {Around}
 */
export function cornersAround(shape, { kind }, project) {
  const [x, y, w, h] = boundsOf(shape);
  const [[left, top], [right, bottom]] = [project(x, y), project(x + w, y + h)];
  const room = AWAY + (shape.box || shape.joints ? 0 : kind === "joints" ? JOINT_RADIUS : RADIUS);
  return { left: left - room, top: top - room, right: right + room, bottom: bottom + room };
}

/**
 * @param {Pen} pen
 * @param {Around} around
 * @param {Change} change
 * @param {string} color
 * @param {number} alpha
 */
export function strokeChange(pen, { left, top, right, bottom }, change, color, alpha) {
  const path = new Path2D();
  for (const [x, across] of [[left, 1], [right, -1]]) {
    for (const [y, down] of [[top, 1], [bottom, -1]]) {
      if (change === "gained") addLine(path, [[x + across * ARM_LENGTH, y], [x, y], [x, y + down * ARM_LENGTH]]);
      else addLine(path, [[x + across * ARM_LENGTH / 2, y + down * ARM_LENGTH / 2], [x - across * ARM_LENGTH / 2, y - down * ARM_LENGTH / 2]]);
    }
  }
  pen(path, color, THICKNESS, [], alpha);
}

/**
 * Draws the marks of a change by themselves, as a legend needs them.
 * @param {CanvasRenderingContext2D} context
 * @param {Change} change
 * @param {Palette} palette
 * @param {Size} size
 */
export function drawChangeSymbol(context, change, palette, { width, height }) {
  context.clearRect(0, 0, width, height);
  strokeChange(penOf(context, palette), { left: 5, top: 4, right: width - 5, bottom: height - 4 }, change, palette.ink, 1);
}
