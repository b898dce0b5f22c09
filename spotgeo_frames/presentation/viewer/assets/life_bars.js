// Draws what became of each object of a sequence: a row for each object, a column for each frame.

import { FOUND, GAP, IGNORED, MISSED, PARTLY, SWITCH } from "./marks.js";
import { identityColor } from "./palette.js";
import { PALE } from "./strokes.js";

/**
 * @import { Size } from "./geometry.js"
 * @import { Palette } from "./palette.js"
 * @import { Lives } from "./lives.js"
 *
 * @typedef {object} TimeLook how a time line is drawn
 * @property {Palette} palette
 * @property {boolean} byIdentity whether the colours tell identities
 * @property {number} nFrames of the sequence
 * @property {Uint8Array | null} passes 1 for the rows of the table of truths that pass the filter
 */

export const ROW_HEIGHT = 18;
export const MOST_ROWS = 12;
export const LABELS = 76; // px for the names of the objects
const NARROWEST_TEXT = 14; // px of a bar that has room for a text
const FONT_OF_LIVES = "11px system-ui, sans-serif";

/**
 * Draws the rows that can be seen, of which the first begins `scrolled` px above the canvas.
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Lives} lives
 * @param {number} scrolled
 * @param {TimeLook} look
 */
export function drawLives(context, size, lives, scrolled, look) {
  context.clearRect(0, 0, size.width, size.height);
  context.font = FONT_OF_LIVES;
  context.textBaseline = "middle";
  const width = (size.width - LABELS) / look.nFrames;
  const most = lives.count.reduce((a, b) => Math.max(a, b), 1);
  const begin = Math.floor(scrolled / ROW_HEIGHT);
  const end = Math.min(lives.objects.length, Math.ceil((scrolled + size.height) / ROW_HEIGHT));
  for (let object = begin; object < end; object++) {
    const top = object * ROW_HEIGHT - scrolled;
    context.globalAlpha = 1;
    drawName(context, lives.objects[object], top, look.palette);
    for (const [first, last] of runsOf(lives, object, look)) {
      if (lives.counted) drawCount(context, lives, first, most, width, top, look);
      else drawRun(context, lives, first, last, width, top, look);
    }
  }
}

/**
 * The object and the frame at a place of the canvas.
 * @param {Lives} lives
 * @param {number} nFrames
 * @param {number} width of the canvas
 * @param {number} x
 * @param {number} y from the top of the first row
 * @returns {{object: number, frame: number} | null}
 */
export function cellAtPlace(lives, nFrames, width, x, y) {
  const object = Math.floor(y / ROW_HEIGHT);
  const frame = Math.floor(((x - LABELS) / (width - LABELS)) * nFrames);
  if (object < 0 || object >= lives.objects.length || frame >= nFrames) return null;
  return { object, frame: Math.max(frame, 0) };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} name
 * @param {number} top
 * @param {Palette} palette
 */
function drawName(context, name, top, palette) {
  context.save();
  context.beginPath();
  context.rect(0, top, LABELS - 6, ROW_HEIGHT);
  context.clip();
  context.fillStyle = palette.ink;
  context.fillText(name, 5, top + ROW_HEIGHT / 2 + 0.5);
  context.restore();
}

/**
 * The first and the last cell of each run of equal cells in neighbouring frames, since a bar is drawn faster than cells.
 * @param {Lives} lives
 * @param {number} object
 * @param {TimeLook} look
 * @returns {[first: number, last: number][]}
 */
function runsOf(lives, object, look) {
  const { frame, state, identity, event, row, counted } = lives;
  const goesOn = (/** @type {number} */ cell) =>
    !counted &&
    frame[cell] === frame[cell - 1] + 1 &&
    state[cell] === state[cell - 1] &&
    identity[cell] === identity[cell - 1] &&
    event[cell] !== SWITCH &&
    passesAt(look, row[cell]) === passesAt(look, row[cell - 1]);
  /** @type {[number, number][]} */
  const runs = [];
  let first = lives.first[object];
  for (let cell = first + 1; cell <= lives.first[object + 1]; cell++) {
    if (cell < lives.first[object + 1] && goesOn(cell)) continue;
    runs.push([first, cell - 1]);
    first = cell;
  }
  return runs;
}

/**
 * @param {TimeLook} look
 * @param {number} row
 */
function passesAt({ passes }, row) {
  return !passes || row < 0 || passes[row] === 1;
}

/**
 * Found is a full bar with the identity, missed a thin line at the bottom; in a gap a second line joins the bars.
 * @param {CanvasRenderingContext2D} context
 * @param {Lives} lives
 * @param {number} first cell
 * @param {number} last cell
 * @param {number} width
 * @param {number} top
 * @param {TimeLook} look
 */
function drawRun(context, lives, first, last, width, top, look) {
  const left = LABELS + lives.frame[first] * width;
  const across = Math.max((last - first + 1) * width, 1);
  const [state, event] = [lives.state[first], lives.event[first]];
  context.globalAlpha = passesAt(look, lives.row[first]) ? 1 : PALE;
  context.fillStyle = colorOfState(lives, first, look);
  if (state === FOUND) context.fillRect(left, top + 3, across, ROW_HEIGHT - 6);
  else if (state === PARTLY) context.fillRect(left, top + 3, across, ROW_HEIGHT - 9);
  else if (state !== MISSED) context.fillRect(left, top + ROW_HEIGHT - 4, across, 1);
  if (state === MISSED || state === PARTLY) {
    context.fillStyle = look.palette.marks[MISSED];
    context.fillRect(left, top + ROW_HEIGHT - 5, across, 3);
  }
  context.fillStyle = look.palette.ink;
  if (event === GAP) context.fillRect(left, top + ROW_HEIGHT / 2 - 0.5, across, 1);
  if (event === SWITCH) drawSwitch(context, left, top);
  if (across > NARROWEST_TEXT) drawIdentity(context, lives, first, left, across, top, look);
}

/**
 * A switch is a line with a small triangle at its top.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} top
 */
function drawSwitch(context, x, top) {
  context.fillRect(x - 1, top + 1, 2, ROW_HEIGHT - 2);
  context.beginPath();
  context.moveTo(x - 4, top);
  context.lineTo(x + 4, top);
  context.lineTo(x, top + 5);
  context.fill();
}

/**
 * @param {Lives} lives
 * @param {number} cell
 * @param {TimeLook} look
 */
function colorOfState(lives, cell, { palette, byIdentity }) {
  const identity = lives.identity[cell];
  if (identity >= 0) return byIdentity ? identityColor(lives.identities[identity], palette.dark) : palette.marks[FOUND];
  return lives.state[cell] === MISSED ? palette.marks[MISSED] : palette.marks[IGNORED];
}

/**
 * Writes the identity where a run begins, if there is room.
 * @param {CanvasRenderingContext2D} context
 * @param {Lives} lives
 * @param {number} cell
 * @param {number} left
 * @param {number} room
 * @param {number} top
 * @param {TimeLook} look
 */
function drawIdentity(context, lives, cell, left, room, top, { palette }) {
  const name = lives.identities[lives.identity[cell]];
  if (name === undefined || context.measureText(name).width + 8 > room) return;
  context.fillStyle = palette.paper;
  context.fillText(name, left + 5, top + ROW_HEIGHT / 2 + (lives.state[cell] === PARTLY ? -1 : 0.5));
}

/**
 * Without identities a cell is a count: the more, the higher.
 * @param {CanvasRenderingContext2D} context
 * @param {Lives} lives
 * @param {number} cell
 * @param {number} most the greatest count
 * @param {number} width
 * @param {number} top
 * @param {TimeLook} look
 */
function drawCount(context, lives, cell, most, width, top, { palette }) {
  const count = lives.count[cell];
  if (!count) return;
  const left = LABELS + lives.frame[cell] * width;
  const height = Math.max(2, ((ROW_HEIGHT - 3) * count) / most);
  context.fillStyle = palette.marks[lives.state[cell]];
  const text = String(count);
  const bar = context.measureText(text).width + NARROWEST_TEXT < width ? 6 : Math.max(width - 1, 1);
  context.fillRect(left, top + ROW_HEIGHT - 1 - height, bar, height);
  if (bar !== 6) return;
  context.fillStyle = palette.ink;
  context.fillText(text, left + 9, top + ROW_HEIGHT / 2 + 0.5);
}
