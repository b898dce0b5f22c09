// Which frame comes next: of the same sequence, or, with a filter, of those that have something.

import { hasChange } from "./gains.js";
import { breaksOf } from "./lives.js";

/**
 * @import { Frames, Source } from "./source.js"
 *
 * @typedef {"error" | "break" | "change"} Goal what steps may lead to; a change lies between two submissions
 */

/**
 * The next or previous frame that is such a goal, also in other sequences; null where there is none.
 * @param {Source} source
 * @param {number[]} submissions
 * @param {Goal} what
 * @param {number} frame
 * @param {number} by 1 or -1
 * @param {() => boolean} isWanted whether to search on
 * @returns {Promise<number | null>}
 */
export async function nextEvent(source, submissions, what, frame, by, isWanted) {
  const { first, sequence } = source.frames;
  if (what === "change" && submissions.length !== 2) return null;
  for (let place = sequence[frame]; place >= 0 && place < source.about.sequences.length && isWanted(); place += by) {
    const found = (await eventsIn(source, submissions, what, place)).map((one) => first[place] + one);
    const next = by > 0 ? found.find((one) => one > frame) : found.findLast((one) => one < frame);
    if (next !== undefined) return next;
  }
  return null;
}

/**
 * The frames of a sequence that are such goals, counted from its first.
 * @param {Source} source
 * @param {number[]} submissions
 * @param {Goal} what
 * @param {number} place of the sequence
 */
async function eventsIn(source, submissions, what, place) {
  if (what === "break") return breaksOf(await Promise.all(submissions.map((submission) => source.lives(place, submission))));
  if (what === "change") {
    const gains = await source.gains(place, submissions[0], submissions[1]);
    return [...gains.keys()].filter((frame) => hasChange(gains[frame]));
  }
  const tallies = await Promise.all(submissions.map((submission) => source.tallies(place, submission)));
  return tallies[0].map((_, frame) => frame).filter((frame) => tallies.some((tally) => {
    const counts = tally[frame];
    return counts !== null && counts.missed + counts.wrong > 0;
  }));
}

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
