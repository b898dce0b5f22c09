// Follows the objects of a sequence through its frames: found, missed, as which identity, with switches and gaps.

import { known, textAt } from "./columns.js";
import { EVENTS, FALSE, FOUND, GAP, IGNORED, MISSED, NO_EVENT, PARTLY, STATES, SWITCH } from "./marks.js";

/**
 * @import { Table } from "./columns.js"
 *
 * @typedef {"truth" | "predicted"} Side
 *
 * The rows of one frame in a table: `n` rows of `table` from `at`; `first` is the number of the first one, by which
 * it is selected and filtered. (A table may have only some frames; then `first` is not `at`.)
 * @typedef {{table: Table, at: number, first: number, n: number}} Rows
 *
 * @typedef {object} FrameRows one frame of one submission
 * @property {number} frame
 * @property {number} submission
 * @property {boolean} present whether the submission has this frame at all
 * @property {Rows} truth
 * @property {Rows} predicted
 * @property {Rows} pairs a row for each truth
 * @property {Int32Array} pair the prediction of each truth by its position in the frame, -1 where it has none
 * @property {Int32Array} partner the truth of each prediction by its position in the frame, -1 where it has none
 * @property {Uint8Array} truthMarks what each truth is: a position in MARKS
 * @property {Uint8Array} predictedMarks what each prediction is: a position in MARKS
 *
 * @typedef {{found: number, missed: number, wrong: number, ignored: number}} Counts
 *
 * @typedef {object} Lives what became of each object of a sequence
 * @property {string[]} objects names; without identities there is a row for found, missed and false
 * @property {boolean} counted whether cells are counts, for there are no identities
 * @property {Int32Array} first the first cell of each object, and the end; the cells of an object are sorted by frame
 * @property {Int32Array} frame of each cell, counted from the sequence's first
 * @property {Uint8Array} state of each cell: a position in STATES
 * @property {Uint8Array} event of each cell: a position in EVENTS
 * @property {Int32Array} identity of each cell: a position in `identities`, -1 where it was not found
 * @property {string[]} identities names
 * @property {Int32Array} row of each cell: its first row in the table of truths
 * @property {Int32Array} count of each cell: joints of the object; without identities, objects
 */

/**
 * The name of an object, which is a number or a text.
 * @param {Rows} rows
 * @param {number} i counted from the frame's first
 * @returns {string}
 */
export function objectAt(rows, i) {
  return textAt(rows.table.columns.get("object"), rows.at + i) ?? "";
}

/**
 * @typedef {object} Cell an object in a frame
 * @property {number} frame
 * @property {number} row
 * @property {number} found how many of its rows, which are its joints where there are several
 * @property {number} missed
 * @property {number} identity
 * @property {boolean} switched
 */

/**
 * The lives of the objects of consecutive frames.
 * @param {FrameRows[]} frames
 * @returns {Lives}
 */
export function livesOf(frames) {
  /** @type {Map<string, Cell[]>} */
  const lists = new Map();
  /** @type {Map<string, number>} */
  const identities = new Map();
  frames.forEach((rows, frame) => addFrame(rows, frame, lists, identities));
  const cells = [...lists.values()].flat();
  const ends = [0];
  for (const list of lists.values()) ends.push(known(ends.at(-1)) + list.length);
  return {
    objects: [...lists.keys()],
    counted: false,
    first: Int32Array.from(ends),
    frame: Int32Array.from(cells, (cell) => cell.frame),
    state: Uint8Array.from(cells, stateOf),
    event: Uint8Array.from([...lists.values()].flatMap(eventsOf)),
    identity: Int32Array.from(cells, (cell) => cell.identity),
    identities: [...identities.keys()],
    row: Int32Array.from(cells, (cell) => cell.row),
    count: Int32Array.from(cells, (cell) => cell.found + cell.missed),
  };
}

/**
 * Adds a cell for each truth of a frame to the cells of its object.
 * @param {FrameRows} rows
 * @param {number} frame
 * @param {Map<string, Cell[]>} lists the cells of each object
 * @param {Map<string, number>} identities the position of each
 */
function addFrame(rows, frame, lists, identities) {
  const events = rows.pairs.table.columns.get("event");
  for (let i = 0; i < rows.truth.n && rows.present; i++) {
    const name = objectAt(rows.truth, i);
    const list = lists.get(name) ?? [];
    if (!list.length) lists.set(name, list);
    if (list.at(-1)?.frame !== frame) {
      list.push({ frame, row: rows.truth.first + i, found: 0, missed: 0, identity: -1, switched: false });
    }
    const cell = known(list.at(-1));
    if (rows.truthMarks[i] === MISSED) cell.missed++;
    if (rows.truthMarks[i] !== FOUND) continue;
    const identity = objectAt(rows.predicted, rows.pair[i]);
    if (!identities.has(identity)) identities.set(identity, identities.size);
    cell.found++;
    if (cell.identity < 0) cell.identity = known(identities.get(identity));
    cell.switched ||= textAt(events, rows.pairs.at + i) === EVENTS[SWITCH];
  }
}

/** @param {{found: number, missed: number}} cell */
function stateOf({ found, missed }) {
  if (found && missed) return PARTLY;
  if (found) return FOUND;
  return missed ? MISSED : IGNORED;
}

/**
 * The event of each cell of one object: a switch, or a gap, which is a miss between two matches.
 * @param {{found: number, switched: boolean}[]} cells
 * @returns {number[]}
 */
function eventsOf(cells) {
  const found = cells.map((cell) => cell.found > 0);
  const [first, last] = [found.indexOf(true), found.lastIndexOf(true)];
  return cells.map((cell, i) => {
    if (cell.switched) return SWITCH;
    return first >= 0 && i > first && i < last && !found[i] ? GAP : NO_EVENT;
  });
}

/**
 * Where objects have no identity: a row each for what was found, missed and false, with counts.
 * @param {(Counts | null)[]} frames
 * @returns {Lives}
 */
export function countedLives(frames) {
  /** @type {[number, "found" | "missed" | "wrong"][]} */
  const rows = [[FOUND, "found"], [MISSED, "missed"], [FALSE, "wrong"]];
  const cells = rows.flatMap(([state, counted]) => frames.map((entry, frame) => ({ state, frame, count: entry?.[counted] ?? 0 })));
  const n = cells.length;
  return {
    objects: rows.map(([state]) => STATES[state]),
    counted: true,
    first: Int32Array.from([0, 1, 2, 3], (i) => i * frames.length),
    frame: Int32Array.from(cells, (cell) => cell.frame),
    state: Uint8Array.from(cells, (cell) => cell.state),
    event: new Uint8Array(n),
    identity: new Int32Array(n).fill(-1),
    identities: [],
    row: new Int32Array(n).fill(-1),
    count: Int32Array.from(cells, (cell) => cell.count),
  };
}

/**
 * The cell of an object in a frame, -1 where there is none.
 * @param {Lives} lives
 * @param {number} object
 * @param {number} frame
 * @returns {number}
 */
export function cellOf(lives, object, frame) {
  const cells = lives.frame.subarray(lives.first[object], lives.first[object + 1]);
  const place = cells.indexOf(frame);
  return place < 0 ? -1 : lives.first[object] + place;
}

/**
 * The identity that an object had when it was last found before a cell; null where it was not.
 * @param {Lives} lives
 * @param {number} object
 * @param {number} cell
 * @returns {string | null}
 */
export function identityBefore(lives, object, cell) {
  for (let earlier = cell - 1; earlier >= lives.first[object]; earlier--) {
    if (lives.identity[earlier] >= 0) return lives.identities[lives.identity[earlier]];
  }
  return null;
}

/**
 * The frames in which a track breaks, in ascending order: those of switches, and the first of each gap.
 * @param {Lives[]} every
 * @returns {number[]}
 */
export function breaksOf(every) {
  const frames = every.flatMap(({ event, frame }) => [...frame].filter((_, cell) =>
    event[cell] === SWITCH || (event[cell] === GAP && event[cell - 1] !== GAP))); // a gap is between two matches of its object
  return [...new Set(frames)].sort((a, b) => a - b);
}

/**
 * What an object is in a frame, in words.
 * @param {Lives} lives
 * @param {number} object
 * @param {number} frame
 * @returns {string}
 */
export function cellText(lives, object, frame) {
  const cell = cellOf(lives, object, frame);
  const name = lives.objects[object];
  if (cell < 0) return `${name}: not in this frame`;
  if (lives.counted) return `${lives.count[cell]} ${name}`;
  const as = lives.identity[cell] < 0 ? "" : ` as ${lives.identities[lives.identity[cell]]}`;
  const event = lives.event[cell] ? `, ${EVENTS[lives.event[cell]]}` : "";
  return `${name}: ${STATES[lives.state[cell]]}${as}${event}`;
}
