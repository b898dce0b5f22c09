// Places labels beside shapes such that none covers another; where many want to stand, the more important ones do.

/**
 * @import { Size } from "./geometry.js"
 *
 * @typedef {object} Label
 * @property {string} text
 * @property {number} rank the lower, the more important; those of rank 0 stand in any case
 *
 * @typedef {object} Wanted a label, and on the screen the bounds of the shape that it is about
 * @property {Label} label
 * @property {number} left
 * @property {number} top
 * @property {number} right
 * @property {number} bottom
 * @property {boolean} above whether it stands above its shape rather than below
 * @property {string} color
 *
 * @typedef {{wanted: Wanted, x: number, y: number, width: number}} Placed the left and bottom of a label's text
 */

export const LABEL_HEIGHT = 13; // CSS px
const GAP_TO_SHAPE = 3;
const MOST_LABELS = 300;

/**
 * The labels that have room, with their places.
 * @param {Wanted[]} every
 * @param {Size} size of the canvas
 * @param {(text: string) => number} widthOf
 * @returns {Placed[]}
 */
export function placedLabels(every, size, widthOf) {
  const inSight = every.filter(({ left, top, right, bottom }) => right >= 0 && left <= size.width && bottom >= 0 && top <= size.height);
  const inOrder = inSight.sort((a, b) => a.label.rank - b.label.rank).slice(0, MOST_LABELS);
  /** @type {Placed[]} */
  const placed = [];
  for (const wanted of inOrder) {
    const width = widthOf(wanted.label.text);
    const places = placesOf(wanted, width, size);
    const free = places.find((place) => !placed.some((other) => cover(place, other)));
    if (free) placed.push(free);
    else if (wanted.label.rank === 0) placed.push(places[0]);
  }
  return placed;
}

/**
 * Where a label may stand, the best place first: above its shape, below it, or to its right.
 * @param {Wanted} wanted
 * @param {number} width
 * @param {Size} size
 * @returns {Placed[]}
 */
function placesOf(wanted, width, size) {
  const { left, top, right, bottom, above } = wanted;
  const over = { x: left, y: top - GAP_TO_SHAPE };
  const under = { x: left, y: bottom + GAP_TO_SHAPE + LABEL_HEIGHT };
  const beside = { x: right + GAP_TO_SHAPE, y: (top + bottom + LABEL_HEIGHT) / 2 };
  return [...(above ? [over, under] : [under, over]), beside].map(({ x, y }) => ({
    wanted,
    width,
    x: Math.max(2, Math.min(x, size.width - width - 3)),
    y: Math.max(LABEL_HEIGHT, Math.min(y, size.height - 2)),
  }));
}

/**
 * @param {Placed} one
 * @param {Placed} other
 */
function cover(one, other) {
  return one.x < other.x + other.width + 2 && other.x < one.x + one.width + 2 && Math.abs(one.y - other.y) < LABEL_HEIGHT;
}
