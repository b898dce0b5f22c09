// What one submission gains and loses against another: truths that only one of the two finds.

import { FOUND, MISSED } from "./marks.js";

/**
 * @import { FrameRows } from "./lives.js"
 *
 * @typedef {"gained" | "lost"} Change what became of a truth from the first of two submissions to the second
 * @typedef {{gained: number, lost: number}} Gains counts of truths
 */

/** Which of two submissions finds a truth of each change, and which misses it. */
const FINDER = { gained: 1, lost: 0 };
export const KINDS_OF_CHANGE = /** @type {Change[]} */ (Object.keys(FINDER));

/**
 * @param {number} before what the truth is in the first submission: a position in MARKS
 * @param {number} after
 * @returns {Change | null} null also for what is ignored
 */
function changeFrom(before, after) {
  if (before === MISSED && after === FOUND) return "gained";
  return before === FOUND && after === MISSED ? "lost" : null;
}

/**
 * How many of the same truths the second of two submissions gains and loses.
 * @param {Uint8Array} before what each is in the first submission
 * @param {Uint8Array} after
 * @returns {Gains}
 */
export function gainsBetween(before, after) {
  const gains = { gained: 0, lost: 0 };
  for (let i = 0; i < before.length; i++) {
    const change = changeFrom(before[i], after[i]);
    if (change) gains[change]++;
  }
  return gains;
}

/**
 * Whether a frame has a truth that only one of two submissions finds.
 * @param {Gains | null} gains null where one of them lacks the frame
 */
export function hasChange(gains) {
  return gains !== null && gains.gained + gains.lost > 0;
}

/**
 * The truths that changed, by their rows; none unless two submissions are shown that both have the frame.
 * @param {FrameRows[]} shown
 * @returns {Map<number, Change>}
 */
export function changedTruths(shown) {
  /** @type {Map<number, Change>} */
  const changed = new Map();
  if (shown.length !== 2 || !shown.every(({ present }) => present)) return changed;
  const [{ truth, truthMarks: before }, { truthMarks: after }] = shown;
  for (let i = 0; i < truth.n; i++) {
    const change = changeFrom(before[i], after[i]);
    if (change) changed.set(truth.first + i, change);
  }
  return changed;
}

/**
 * What a change means: found by B, missed by A.
 * @param {Change} change
 * @param {string[]} names of the two submissions
 */
export function changeMeaning(change, names) {
  return `found by ${names[FINDER[change]]}, missed by ${names[1 - FINDER[change]]}`;
}

/**
 * How many truths changed in a frame, in words: B gains 2 and loses 1 against A. Where none did, this is said only if
 * both find some and miss some, for equal counts do not tell that the truths are the same.
 * @param {FrameRows[]} shown
 * @param {string[]} names of the submissions
 * @returns {string}
 */
export function gainsText(shown, names) {
  if (shown.length !== 2 || !shown.every(({ present }) => present)) return "";
  const [before, after] = shown.map(({ truthMarks }) => truthMarks);
  const { gained, lost } = gainsBetween(before, after);
  const told = [gained ? `gains ${gained.toLocaleString("en")}` : "", lost ? `loses ${lost.toLocaleString("en")}` : ""].filter(Boolean);
  if (told.length) return `${names[1]} ${told.join(" and ")} against ${names[0]}`;
  return before.includes(FOUND) && before.includes(MISSED) ? "the same truths are found" : "";
}
