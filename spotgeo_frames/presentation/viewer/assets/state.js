// What the viewer shows: its state, which changes of it are possible, and what the source answers about it.

import { textAt } from "./columns.js";
import { layerOf, load } from "./draw.js";
import { changedTruths } from "./gains.js";
import { cellOf, identityBefore, objectAt } from "./lives.js";
import { EVENTS } from "./marks.js";

/**
 * @import { Layer, LoadedPicture } from "./draw.js"
 * @import { Change, Gains } from "./gains.js"
 * @import { Camera } from "./geometry.js"
 * @import { Counts, FrameRows, Lives, Side } from "./lives.js"
 * @import { Source } from "./source.js"
 *
 * @typedef {{side: Side, submission: number, row: number}} Selected a row of a table of truths or predictions
 *
 * @typedef {object} State
 * @property {number} frame
 * @property {number[]} submissions
 * @property {"beside" | "over"} layout
 * @property {"outcome" | "identity"} colour
 * @property {number} trail how many frames before are drawn as trails
 * @property {boolean} marks whether marks are drawn over pictures
 * @property {boolean} labels whether shapes have labels that nobody points at
 * @property {Camera | null} camera null for the whole frame
 * @property {Selected | null} selected
 *
 * @typedef {object} Answers what the source answered about a frame
 * @property {number} frame
 * @property {number[]} submissions
 * @property {FrameRows[]} frames of each shown submission
 * @property {(Counts | null)[]} counts
 * @property {Lives[]} lives
 * @property {(Counts | null)[][]} tallies the counts of each frame of the sequence
 * @property {(Gains | null)[] | null} gains those of each frame of the sequence, null unless two submissions are shown
 * @property {Map<number, Change>} changed the truths of the frame that only one of two shown submissions finds, by row
 * @property {Layer[]} layers
 * @property {LoadedPicture | null} loaded the picture
 *
 * @typedef {{side: Side, submission: number, name: string, joint: string | null}} Followed a selected object in any frame
 */

const LONGEST_TRAIL = 200;

/**
 * Asks the source about what is to be shown.
 * @param {Source} source
 * @param {State} state
 * @returns {Promise<Answers>}
 */
export async function answersOf(source, { frame, submissions, trail }) {
  const sequence = source.frames.sequence[frame];
  const first = Math.max(source.frames.first[sequence], frame - trail);
  const earlier = Array.from({ length: frame - first }, (_, i) => first + i);
  const [rows, counts, lives, tallies, gains, before, loaded] = await Promise.all([
    Promise.all(submissions.map((submission) => source.rows(frame, submission))),
    Promise.all(submissions.map((submission) => source.counts(frame, submission))),
    Promise.all(submissions.map((submission) => source.lives(sequence, submission))),
    Promise.all(submissions.map((submission) => source.tallies(sequence, submission))),
    submissions.length === 2 ? source.gains(sequence, submissions[0], submissions[1]) : null,
    Promise.all(submissions.map((submission) => Promise.all(earlier.map((other) => source.rows(other, submission))))),
    Promise.resolve(source.picture(frame)).then(load),
  ]);
  const layers = rows.map((own, i) => layerOf(own, before[i], source.about));
  return { frame, submissions, frames: rows, counts, lives, tallies, gains, changed: changedTruths(rows), layers, loaded };
}

/**
 * The part of a change that can be shown.
 * @param {Partial<State>} change
 * @param {Source} source
 * @returns {Partial<State>}
 */
export function possible(change, { about, frames }) {
  const isPlace = (/** @type {unknown} */ value, /** @type {number} */ n) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < n;
  /** @type {{[name: string]: (value: any) => boolean}} */
  const checks = {
    frame: (value) => isPlace(value, frames.n),
    submissions: (value) => Array.isArray(value) && value.length > 0 && new Set(value).size === value.length &&
      value.every((one) => isPlace(one, about.submissions.length)),
    layout: (value) => ["beside", "over"].includes(value),
    colour: (value) => value === "outcome" || (value === "identity" && about.identities),
    trail: (value) => isPlace(value, LONGEST_TRAIL + 1) && (value === 0 || about.identities),
    marks: (value) => typeof value === "boolean",
    labels: (value) => typeof value === "boolean",
    camera: (value) => value === null || ([value?.x, value?.y, value?.scale].every(Number.isFinite) && value.scale > 0),
    selected: (value) => value === null || (["truth", "predicted"].includes(value?.side) &&
      isPlace(value.submission, about.submissions.length) && isPlace(value.row, Infinity)),
  };
  return Object.fromEntries(Object.entries(change).filter(([name, value]) => Object.hasOwn(checks, name) && checks[name](value)));
}

/**
 * What is selected in shown frames, and the object that is followed: that of a selected row, or the same object as
 * before where there are identities.
 * @param {FrameRows[]} shown
 * @param {Selected | null} selected
 * @param {Followed | null} followed
 * @param {boolean} identities
 * @returns {{selected: Selected | null, followed: Followed | null}}
 */
export function selectionIn(shown, selected, followed, identities) {
  const rows = shown.find(({ submission }) => submission === (selected ?? followed)?.submission);
  const here = rows && selected ? follows(rows, selected) : null;
  if (here) return { selected, followed: here };
  const again = identities ? followed : null;
  return { selected: rows && again ? selectedAgain(rows, again) : null, followed: again };
}

/**
 * The object of a selected row; null where the frame does not have the row.
 * @param {FrameRows} rows
 * @param {Selected} selected
 * @returns {Followed | null}
 */
function follows(rows, { side, submission, row }) {
  const i = row - rows[side].first;
  if (i < 0 || i >= rows[side].n) return null;
  return { side, submission, name: objectAt(rows[side], i), joint: jointAt(rows, side, i) };
}

/**
 * @param {FrameRows} rows
 * @param {Side} side
 * @param {number} i
 */
function jointAt(rows, side, i) {
  return textAt(rows[side].table.columns.get("joint"), rows[side].at + i);
}

/**
 * The row of an object that was selected in another frame.
 * @param {FrameRows} rows
 * @param {Followed} followed
 * @returns {Selected | null}
 */
export function selectedAgain(rows, { side, submission, name, joint }) {
  for (let i = 0; i < rows[side].n; i++) {
    if (objectAt(rows[side], i) === name && jointAt(rows, side, i) === joint) return { side, submission, row: rows[side].first + i };
  }
  return null;
}

/**
 * What tells an object of a submission from all others.
 * @param {Selected} object
 * @returns {string}
 */
export function keyOfObject({ side, submission, row }) {
  return `${side},${submission},${row}`;
}

/**
 * Whether two are the same row; a truth is the same for all submissions.
 * @param {Selected} a
 * @param {Selected} b
 */
export function isSame(a, b) {
  return a.side === b.side && a.row === b.row && (a.side === "truth" || a.submission === b.submission);
}

/**
 * The truth that is selected, or that the selected prediction was matched with.
 * @param {FrameRows} rows
 * @param {Selected | null} selected
 * @returns {string | null}
 */
export function truthOfSelected(rows, selected) {
  if (!selected || (selected.side === "predicted" && selected.submission !== rows.submission)) return null;
  const i = selected.row - rows[selected.side].first;
  const truth = selected.side === "truth" ? i : rows.partner[i];
  return truth < 0 ? null : objectAt(rows.truth, truth);
}

/**
 * What broke the track of an object in a frame, as a label; null where nothing did.
 * @param {Lives} lives
 * @param {number} object
 * @param {number} frame
 * @returns {string | null}
 */
export function breakText(lives, object, frame) {
  const cell = cellOf(lives, object, frame);
  if (cell < 0 || !lives.event[cell]) return null;
  if (lives.identity[cell] < 0) return EVENTS[lives.event[cell]];
  return `${identityBefore(lives, object, cell)} → ${lives.identities[lives.identity[cell]]}`;
}
