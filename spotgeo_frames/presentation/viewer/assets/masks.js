// Masks: COCO's compressed run lengths as closed lines around pixels, and which points lie within them.

import { numbersOf } from "./columns.js";

/**
 * @import { Table } from "./columns.js"
 *
 * @typedef {object} Mask
 * @property {Uint8Array} text the characters of its run lengths
 * @property {number} height of the image, px
 * @property {number} width
 * @property {number[][] | null} rings once they were asked for: x and y of each corner of each closed line, px
 *
 * Columns of pixels that are alike: from one x to another, and where they are inside, as top and bottom in turn.
 * @typedef {{from: number, to: number, sides: number[]}} Strip
 *
 * Corners of the lines around a mask, as the corners that follow them; two follow where lines meet.
 * @typedef {Map<number, number[]>} Following
 */

// The code of the character that stands for 0, the bit that says that more follow, that of the sign, and the bits of a digit.
const [ZERO, FOLLOWS, SIGN, BITS] = [48, 0x20, 0x10, 5];
const MOST_DIGITS = 7; // characters of a count
const MOST_PIXELS = 2 ** 31;

/** @type {WeakMap<Table, Map<number, Mask>>} the masks that were asked for, so that each is taken apart once */
const KNOWN_MASKS = new WeakMap();

/**
 * The mask of a row; null where it has none, or where there was no room for it.
 * @param {Table} table
 * @param {number} row
 * @returns {Mask | null}
 */
export function maskAt(table, row) {
  const length = table.masks?.lengths[row] ?? 0;
  if (!table.masks || length <= 0) return null;
  const known = KNOWN_MASKS.get(table) ?? new Map();
  KNOWN_MASKS.set(table, known);
  const start = table.masks.starts[row];
  const mask = known.get(row) ?? {
    text: table.masks.text.subarray(start, start + length),
    height: numbersOf(table, "mask_h")[row],
    width: numbersOf(table, "mask_w")[row],
    rings: null,
  };
  known.set(row, mask);
  return mask;
}

/**
 * The closed lines around a mask; none where it has no pixels, or where its text is no mask of its image.
 * @param {Mask} mask
 * @returns {number[][]}
 */
export function ringsOf(mask) {
  mask.rings ??= closedLines(edgesOf(stripsOf(filledRuns(mask), mask.height), mask.height + 1), mask.height + 1);
  return mask.rings;
}

/**
 * Where runs of pixels that are inside begin and end, in turn, counted down the columns of the image.
 * @param {Mask} mask
 * @returns {number[]}
 */
function filledRuns({ text, height, width }) {
  const most = height * width;
  if (!(height > 0 && most <= MOST_PIXELS && Number.isInteger(height) && Number.isInteger(width))) return [];
  const counts = [0, 0]; // the last ones, of which counts from the third on are differences
  /** @type {number[]} */
  const runs = [];
  let [place, n] = [0, 0];
  for (let i = 0; i < text.length; n++) {
    let [count, scale, digit] = [0, 1, FOLLOWS];
    for (const end = i + MOST_DIGITS; digit & FOLLOWS; i++) {
      if (i >= end || i >= text.length) return [];
      digit = text[i] - ZERO;
      if (digit < 0 || digit >= 2 * FOLLOWS) return [];
      count += (digit & (FOLLOWS - 1)) * scale;
      scale *= 2 ** BITS;
    }
    if (digit & SIGN) count -= scale;
    if (n > 2) count += counts[n % 2];
    counts[n % 2] = count;
    if (!(count >= 0 && place + count <= most)) return [];
    if (n % 2 && count) {
      if (runs.length && runs[runs.length - 1] === place) runs.pop();
      else runs.push(place);
      runs.push(place + count);
    }
    place += count;
  }
  return runs;
}

/**
 * The columns of pixels that runs fill. There are no more than three for each run, however large the image is.
 * @param {number[]} runs
 * @param {number} height
 * @returns {Strip[]}
 */
function stripsOf(runs, height) {
  /** @type {Strip[]} */
  const strips = [];
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ top, /** @type {number} */ bottom) => {
    if (from >= to || top >= bottom) return;
    const last = strips[strips.length - 1];
    if (last?.from === from) last.sides.push(top, bottom);
    else strips.push({ from, to, sides: [top, bottom] });
  };
  for (let i = 0; i < runs.length; i += 2) {
    const [first, last] = [Math.floor(runs[i] / height), Math.floor(runs[i + 1] / height)];
    const [top, bottom] = [runs[i] - first * height, runs[i + 1] - last * height];
    if (first === last) {
      add(first, first + 1, top, bottom);
      continue;
    }
    if (top) add(first, first + 1, top, height);
    add(top ? first + 1 : first, last, 0, height);
    add(last, last + 1, 0, bottom);
  }
  return strips;
}

/**
 * The edges around strips, with the inside on their right.
 * @param {Strip[]} strips
 * @param {number} size by which corners are numbered: y + size * x
 * @returns {Following}
 */
function edgesOf(strips, size) {
  /** @type {Following} */
  const following = new Map();
  const add = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ x2, /** @type {number} */ y2) => {
    const [from, to] = [y + size * x, y2 + size * x2];
    const ends = following.get(from);
    if (ends) ends.push(to);
    else following.set(from, [to]);
  };
  const between = (/** @type {number[]} */ left, /** @type {number[]} */ right, /** @type {number} */ x) => {
    let [i, j, from] = [0, 0, 0];
    while (i < left.length || j < right.length) {
      const to = Math.min(left[i] ?? Infinity, right[j] ?? Infinity);
      if (i % 2 > j % 2) add(x, from, x, to);
      if (i % 2 < j % 2) add(x, to, x, from);
      if (left[i] === to) i++;
      if (right[j] === to) j++;
      from = to;
    }
  };
  strips.forEach(({ from, to, sides }, i) => {
    const [before, after] = [strips[i - 1], strips[i + 1]];
    between(before?.to === from ? before.sides : [], sides, from);
    if (after?.from !== to) between(sides, [], to);
    for (let side = 0; side < sides.length; side += 2) {
      add(from, sides[side], to, sides[side]);
      add(to, sides[side + 1], from, sides[side + 1]);
    }
  });
  return following;
}

/**
 * Edges joined to closed lines, without the corners at which none turns.
 * @param {Following} following
 * @param {number} size
 * @returns {number[][]}
 */
function closedLines(following, size) {
  const rings = [];
  for (const start of following.keys()) {
    /** @type {number[]} */
    const ring = [];
    let [place, dx, dy] = [start, 0, 0];
    do {
      const [x, y] = [Math.floor(place / size), place % size];
      const ends = following.get(place) ?? [];
      // Where two rings meet in a corner, each keeps to its own pixels: it turns right.
      const turnsRight = (/** @type {number} */ end) => Math.sign(Math.floor(end / size) - x) === -dy && Math.sign((end % size) - y) === dx;
      const next = ends.length > 1 ? Math.max(ends.findIndex(turnsRight), 0) : 0;
      following.delete(place);
      if (ends.length > 1) following.set(place, [ends[1 - next]]);
      place = ends[next];
      const [across, down] = [Math.sign(Math.floor(place / size) - x), Math.sign((place % size) - y)];
      if (across !== dx || down !== dy) ring.push(x, y);
      [dx, dy] = [across, down];
    } while (place !== start);
    rings.push(ring);
  }
  return rings;
}

/**
 * How far a point is from the closed lines around a mask, and whether it lies within.
 * @param {Mask} mask
 * @param {number} x
 * @param {number} y
 * @returns {{distance: number, inside: boolean}}
 */
export function nearnessOf(mask, x, y) {
  let [least, inside] = [Infinity, false];
  for (const ring of ringsOf(mask)) {
    let [left, top] = ring.slice(-2);
    for (let i = 0; i < ring.length; i += 2) {
      const [right, bottom] = [ring[i], ring[i + 1]]; // each edge is upright or level
      const dx = Math.max(Math.min(left, right) - x, x - Math.max(left, right), 0);
      const dy = Math.max(Math.min(top, bottom) - y, y - Math.max(top, bottom), 0);
      least = Math.min(least, dx * dx + dy * dy);
      if (left < x && top > y !== bottom > y) inside = !inside;
      [left, top] = [right, bottom];
    }
  }
  return { distance: Math.sqrt(least), inside };
}
