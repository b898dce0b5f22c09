// Answers what the viewer asks of a view: the rows of a frame, its counts, and the lives of a sequence's objects.

import { flagsOf, known, numbersOf, textAt } from "./columns.js";
import { gainsBetween } from "./gains.js";
import { countedLives, livesOf } from "./lives.js";
import { FALSE, FOUND, IGNORED, MARKS, MISSED, RIGHT } from "./marks.js";

/**
 * @import { Facts, Submission, Table, View } from "./columns.js"
 * @import { Gains } from "./gains.js"
 * @import { Counts, FrameRows, Lives } from "./lives.js"
 *
 * @typedef {{n: number, sequence: Int32Array, name: string[], first: Int32Array}} Frames
 * @typedef {[left: number, right: number, top: number, bottom: number]} Extent
 * @typedef {{url: string, left: number, right: number, top: number, bottom: number}} Picture
 * @typedef {{name: string, label: string, extent: Extent}} Sequence
 * @typedef {Facts & {submissions: string[], sequences: Sequence[], pictures: boolean}} SourceFacts
 *
 * @typedef {object} Source
 * @property {SourceFacts} about
 * @property {Frames} frames
 * @property {(frame: number, submission: number) => Counts | null | Promise<Counts | null>} counts null where the submission lacks the frame
 * @property {(frame: number, submission: number) => FrameRows | Promise<FrameRows>} rows
 * @property {(sequence: number, submission: number) => Lives | Promise<Lives>} lives
 * @property {(sequence: number, submission: number) => (Counts | null)[] | Promise<(Counts | null)[]>} tallies the counts of each frame
 * @property {(sequence: number, before: number, after: number) => (Gains | null)[] | Promise<(Gains | null)[]>} gains what one submission gains against another in each frame, null where either lacks it
 * @property {(frame: number) => Picture | null | Promise<Picture | null>} picture
 * @property {(frame: number, submissions: number[]) => string} [note] what else is to be said of a frame, after its counts
 * @property {(frame: number) => Map<string, string>} columns the user's, of the sequence and of the frame
 */

/** How many sequences' lives are kept, since each was computed. */
const KEPT = 16;

/**
 * Makes the source of a view that is all there. `pictures` has the picture of a frame by its position.
 * @param {View} view
 * @param {Map<number, Picture>} [pictures]
 * @returns {Source}
 */
export function sourceOf(view, pictures = new Map()) {
  const frames = framesOf(view);
  const truthStarts = startsOf(numbersOf(view.frames, "n_truth"));
  const submissions = view.submissions.map((submission) => indexed(view, submission, truthStarts));
  const rows = (/** @type {number} */ frame, /** @type {number} */ submission) =>
    rowsOf(view, submissions[submission], truthStarts, frame, submission);
  const counts = (/** @type {number} */ frame, /** @type {number} */ submission) =>
    countsOf(submissions[submission], frame);
  const framesIn = (/** @type {number} */ sequence) => {
    const [first, end] = [frames.first[sequence], frames.first[sequence + 1]];
    return Array.from({ length: end - first }, (_, i) => first + i);
  };
  const tallies = kept((sequence, submission) => framesIn(sequence).map((frame) => counts(frame, submission)));
  const gains = kept((sequence, before, after) =>
    framesIn(sequence).map((frame) => gainsAt(submissions[before], submissions[after], truthStarts, frame)));
  const lives = kept((sequence, submission) => {
    if (!view.identities) return countedLives(tallies(sequence, submission));
    return livesOf(framesIn(sequence).map((frame) => rows(frame, submission)));
  });
  const sequences = sequencesOf(view, (sequence) => {
    let [missed, wrong] = [0, 0];
    for (let frame = frames.first[sequence]; frame < frames.first[sequence + 1]; frame++) {
      for (const submission of submissions) {
        missed += countOf(submission, frame, MISSED);
        wrong += countOf(submission, frame, FALSE);
      }
    }
    return `${missed.toLocaleString("en")} missed, ${wrong.toLocaleString("en")} false`;
  });
  const names = view.submissions.map(({ name }) => name);
  const { kind, identities, measure, decimals, joints, bones, angle, columns, filled } = view;
  return {
    about: { kind, identities, measure, decimals, joints, bones, angle, columns, filled, submissions: names, sequences, pictures: pictures.size > 0 },
    frames,
    counts,
    rows,
    lives,
    tallies,
    gains,
    picture: (frame) => pictures.get(frame) ?? null,
    columns: (frame) =>
      new Map([...carried(view.sequences, frames.sequence[frame], "sequence_"), ...carried(view.frames, frame, "frame_")]),
  };
}

/**
 * @param {View} view
 * @returns {Frames}
 */
function framesOf({ frames, sequences }) {
  const sequence = Int32Array.from(numbersOf(frames, "sequence"));
  const first = new Int32Array(sequences.n + 1);
  for (const position of sequence) first[position + 1]++;
  for (let i = 0; i < sequences.n; i++) first[i + 1] += first[i];
  const names = frames.columns.get("frame");
  return { n: frames.n, sequence, first, name: Array.from(sequence, (_, row) => textAt(names, row) ?? "") };
}

/**
 * The names, labels and areas of the sequences.
 * @param {View} view
 * @param {(sequence: number) => string} tallied
 * @returns {Sequence[]}
 */
function sequencesOf({ sequences }, tallied) {
  const names = sequences.columns.get("name");
  const sides = ["left", "right", "top", "bottom"].map((side) => numbersOf(sequences, side));
  return Array.from({ length: sequences.n }, (_, row) => {
    const [left, right, top, bottom] = sides.map((numbers) => numbers[row]);
    const name = textAt(names, row) ?? "";
    return { name, label: `${name}: ${tallied(row)}`, extent: [left, right, top, bottom] };
  });
}

/**
 * The user's columns of a row as text, without the nulls.
 * @param {Table} table
 * @param {number} row
 * @param {string} prefix of their names
 * @returns {Map<string, string>}
 */
function carried(table, row, prefix) {
  const texts = new Map();
  for (const [name, column] of table.columns) {
    const text = name.startsWith(prefix) ? textAt(column, row) : null;
    if (text !== null) texts.set(name.slice(prefix.length), text);
  }
  return texts;
}

/**
 * The first row of each frame, and the end, from the count of rows of each; a frame that is lacking (-1) has none.
 * @param {Float64Array} counts
 * @returns {Int32Array}
 */
function startsOf(counts) {
  const starts = new Int32Array(counts.length + 1);
  counts.forEach((count, i) => { starts[i + 1] = starts[i] + Math.max(count, 0); });
  return starts;
}

/**
 * @typedef {object} Indexed a submission with what finds the rows of a frame
 * @property {Submission} tables
 * @property {Float64Array} nPredicted
 * @property {Int32Array} starts
 * @property {Int32Array} pair
 * @property {Uint8Array} truthMarks
 * @property {Uint8Array} predictedMarks
 * @property {Int32Array} tally for each frame, how many there are of each of MARKS
 */

/**
 * @param {View} view
 * @param {Submission} tables
 * @param {Int32Array} truthStarts
 * @returns {Indexed}
 */
function indexed(view, tables, truthStarts) {
  const nPredicted = numbersOf(tables.frames, "n_predicted");
  const starts = startsOf(nPredicted);
  const pair = Int32Array.from(numbersOf(tables.pairs, "pair"));
  const truthMarks = flagsOf(view.truth, "ignored").map((flag, row) => (flag ? IGNORED : pair[row] < 0 ? MISSED : FOUND));
  const predictedMarks = flagsOf(tables.predicted, "ignored").map((flag) => (flag ? IGNORED : FALSE));
  const tally = new Int32Array(MARKS.length * view.frames.n);
  for (let frame = 0; frame < view.frames.n; frame++) {
    if (nPredicted[frame] < 0) continue;
    const cell = MARKS.length * frame;
    for (let row = truthStarts[frame]; row < truthStarts[frame + 1]; row++) {
      if (pair[row] >= 0) predictedMarks[starts[frame] + pair[row]] = truthMarks[row] === FOUND ? RIGHT : IGNORED;
      tally[cell + truthMarks[row]]++;
    }
    for (let row = starts[frame]; row < starts[frame + 1]; row++) tally[cell + predictedMarks[row]]++;
  }
  return { tables, nPredicted, starts, pair, truthMarks, predictedMarks, tally };
}

/**
 * @param {Indexed} submission
 * @param {number} frame
 * @returns {Counts | null}
 */
function countsOf(submission, frame) {
  if (submission.nPredicted[frame] < 0) return null;
  const [found, missed, wrong, ignored] = [FOUND, MISSED, FALSE, IGNORED].map((mark) => countOf(submission, frame, mark));
  return { found, missed, wrong, ignored };
}

/**
 * @param {Indexed} submission
 * @param {number} frame
 * @param {number} mark
 */
function countOf({ tally }, frame, mark) {
  return tally[MARKS.length * frame + mark];
}

/**
 * @param {Indexed} before
 * @param {Indexed} after
 * @param {Int32Array} truthStarts
 * @param {number} frame
 * @returns {Gains | null}
 */
function gainsAt(before, after, truthStarts, frame) {
  if (before.nPredicted[frame] < 0 || after.nPredicted[frame] < 0) return null;
  const marksOf = (/** @type {Indexed} */ { truthMarks }) => truthMarks.subarray(truthStarts[frame], truthStarts[frame + 1]);
  return gainsBetween(marksOf(before), marksOf(after));
}

/**
 * @param {View} view
 * @param {Indexed} indexed
 * @param {Int32Array} truthStarts
 * @param {number} frame
 * @param {number} submission
 * @returns {FrameRows}
 */
function rowsOf(view, { tables, nPredicted, starts, pair, truthMarks, predictedMarks }, truthStarts, frame, submission) {
  const [from, to, start, end] = [truthStarts[frame], truthStarts[frame + 1], starts[frame], starts[frame + 1]];
  const pairs = pair.subarray(from, to);
  const partner = new Int32Array(end - start).fill(-1);
  pairs.forEach((prediction, truth) => { if (prediction >= 0) partner[prediction] = truth; });
  return {
    frame,
    submission,
    present: nPredicted[frame] >= 0,
    truth: { table: view.truth, at: from, first: from, n: to - from },
    predicted: { table: tables.predicted, at: start, first: start, n: end - start },
    pairs: { table: tables.pairs, at: from, first: from, n: to - from },
    pair: pairs,
    partner,
    truthMarks: truthMarks.subarray(from, to),
    predictedMarks: predictedMarks.subarray(start, end),
  };
}

/**
 * Keeps the last few answers.
 * @template {number[]} K
 * @template T
 * @param {(...about: K) => T} ask
 * @returns {(...about: K) => T}
 */
function kept(ask) {
  /** @type {Map<string, T>} */
  const answers = new Map();
  return (...about) => {
    const key = about.join();
    const answer = answers.get(key) ?? ask(...about);
    answers.delete(key);
    answers.set(key, answer);
    if (answers.size > KEPT) answers.delete(known(answers.keys().next().value));
    return answer;
  };
}
