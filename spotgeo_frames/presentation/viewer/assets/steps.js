// Which frame comes next: of the same sequence, or, with a filter, of those that have something.

/** @import { Frames } from "./source.js" */

/**
 * The next or previous frame; null where there is none. Without a filter it is one of the same sequence.
 * @param {Frames} frames
 * @param {Int32Array | null} visited frames in ascending order, null for all
 * @param {number} frame
 * @param {number} by 1 or -1
 * @returns {number | null}
 */
export function nextFrame({ n, sequence }, visited, frame, by) {
  if (visited) return visited[by > 0 ? countTo(visited, frame + 1) : countTo(visited, frame) - 1] ?? null;
  const next = frame + by;
  return next >= 0 && next < n && sequence[next] === sequence[frame] ? next : null;
}

/**
 * The first frame of the next or previous sequence; null where there is none.
 * @param {Frames} frames
 * @param {Int32Array | null} visited frames in ascending order, null for all
 * @param {number} frame
 * @param {number} by 1 or -1
 * @returns {number | null}
 */
export function nextSequence(frames, visited, frame, by) {
  const { first, sequence, n } = frames;
  const here = sequence[frame];
  const other = by > 0 ? nextOf(visited, n, first[here + 1]) : previousOf(visited, first[here] - 1);
  return other === null ? null : nextOf(visited, n, first[sequence[other]]);
}

/**
 * @param {Int32Array | null} visited
 * @param {number} n
 * @param {number} frame
 * @returns {number | null} the first visited frame from this one on
 */
function nextOf(visited, n, frame) {
  if (visited) return visited[countTo(visited, frame)] ?? null;
  return frame < n ? frame : null;
}

/**
 * @param {Int32Array | null} visited
 * @param {number} frame
 * @returns {number | null} the last visited frame up to this one
 */
function previousOf(visited, frame) {
  if (visited) return visited[countTo(visited, frame + 1) - 1] ?? null;
  return frame >= 0 ? frame : null;
}

/**
 * @param {Int32Array} sorted
 * @param {number} value
 * @returns {number} how many are less
 */
function countTo(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
