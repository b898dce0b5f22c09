// The rows of a view as its match tables have them, and the values of each of their columns.

import { flagsOf, known, numbersOf } from "../../../viewer/assets/columns.js";
import { FALSE, FOUND, IGNORED, MISSED, STATES } from "../../../viewer/assets/marks.js";

/**
 * @import { Column, NumberColumn, Submission, Table, View } from "../../../viewer/assets/columns.js"
 *
 * The rows of a submission: truths with their predictions, then false alarms, then a row for each empty frame.
 * @typedef {object} MatchRows
 * @property {number} n
 * @property {number} nObjects how many are not those of empty frames
 * @property {Int32Array} frame of each row
 * @property {Int32Array} truth the row in the table of truths, -1 where there is none
 * @property {Int32Array} predicted the row in the table of predictions, -1 where there is none
 * @property {Uint8Array} counts 0 for each row that is ignored, 1 for others
 *
 * @typedef {(view: View, submission: Submission, rows: MatchRows) => Column | null} Reader
 */

/** The outcomes of rows are those of marks, and one of their own for empty frames. */
const OUTCOMES = [...STATES, "empty frame"];
const EMPTY = STATES.length;

/** What a truth may become from one submission to another; changed.py lists these changes in the same words. */
const CHANGES = [["found", "missed"], ["missed", "found"], ["found", "found"], ["missed", "missed"]];

/** @type {Map<string, Reader>} the columns that are not as the viewer's tables have them */
const READERS = new Map([
  ["sequence", ({ frames, sequences }, _, rows) => gathered(sequences.columns.get("name"), sequenceRows(frames, rows))],
  ["frame", ({ frames }, _, rows) => gathered(frames.columns.get("frame"), rows.frame)],
  ["frame_n_truth", (view, submission, rows) => countsInFrames(view, submission, rows, rows.truth)],
  ["frame_n_predicted", (view, submission, rows) => countsInFrames(view, submission, rows, rows.predicted)],
  ["outcome", outcomes],
  ["distance", (_, { pairs }, rows) => gathered(pairs.columns.get("measure"), rows.truth)],
  ["similarity", (_, { pairs }, rows) => gathered(pairs.columns.get("measure"), rows.truth)],
  ["kind", (_, { pairs, predicted }, rows) => either(pairs, predicted, "kind", rows)],
  ["event", (_, { pairs, predicted }, rows) => either(pairs, predicted, "event", rows)],
  ["cause", (_, { pairs, predicted }, rows) => either(pairs, predicted, "cause", rows)],
  ["detected_as", (_, { pairs }, rows) => gathered(pairs.columns.get("detected_as"), rows.truth)],
  ["detection_of", (_, { predicted }, rows) => gathered(predicted.columns.get("detection_of"), rows.predicted)],
  ["category", ({ truth }, { predicted }, rows) => either(truth, predicted, "category", rows)],
  ["joint", ({ truth }, { predicted }, rows) => either(truth, predicted, "joint", rows)],
  ["truth_centre_x", ({ truth }, _, rows) => taken(centres(truth, "x", "w"), rows.truth)],
  ["truth_centre_y", ({ truth }, _, rows) => taken(centres(truth, "y", "h"), rows.truth)],
  ["offset_x", (view, submission, rows) => offsets(view, submission, rows, "x", "w")],
  ["offset_y", (view, submission, rows) => offsets(view, submission, rows, "y", "h")],
]);

/** @type {WeakMap<Submission, MatchRows>} */
const KNOWN_ROWS = new WeakMap();

/**
 * @param {View} view
 * @param {Submission} submission
 * @returns {MatchRows}
 */
export function matchRowsOf(view, submission) {
  const rows = KNOWN_ROWS.get(submission) ?? findMatchRows(view, submission);
  KNOWN_ROWS.set(submission, rows);
  return rows;
}

/**
 * @param {View} view
 * @param {Submission} submission
 * @returns {MatchRows}
 */
function findMatchRows({ frames, truth }, submission) {
  const nTruth = numbersOf(frames, "n_truth");
  const nPredicted = numbersOf(submission.frames, "n_predicted");
  const pair = numbersOf(submission.pairs, "pair");
  const most = truth.n + submission.predicted.n + frames.n;
  const columns = { frame: new Int32Array(most), truth: new Int32Array(most), predicted: new Int32Array(most) };
  const isPaired = new Uint8Array(submission.predicted.n);
  let n = 0;
  const add = (/** @type {number} */ frame, /** @type {number} */ truthRow, /** @type {number} */ predictedRow) => {
    columns.frame[n] = frame;
    columns.truth[n] = truthRow;
    columns.predicted[n++] = predictedRow;
  };
  for (let frame = 0, first = 0, start = 0; frame < frames.n; first += nTruth[frame], start += Math.max(nPredicted[frame], 0), frame++) {
    for (let row = first; row < first + nTruth[frame] && nPredicted[frame] >= 0; row++) {
      add(frame, row, pair[row] < 0 ? -1 : start + pair[row]);
      if (pair[row] >= 0) isPaired[start + pair[row]] = 1;
    }
  }
  for (let frame = 0, row = 0; frame < frames.n; frame++) {
    for (const end = row + Math.max(nPredicted[frame], 0); row < end; row++) if (!isPaired[row]) add(frame, -1, row);
  }
  const nObjects = n;
  const counts = new Uint8Array(most).fill(1);
  const isEmpty = new Uint8Array(frames.n).fill(1); // also where all objects are ignored
  const [ignoredTruth, ignoredPrediction] = [flagsOf(truth, "ignored"), flagsOf(submission.predicted, "ignored")];
  for (let row = 0; row < nObjects; row++) {
    const [truthRow, predictedRow] = [columns.truth[row], columns.predicted[row]];
    counts[row] = Number(!(truthRow >= 0 ? ignoredTruth[truthRow] : ignoredPrediction[predictedRow]));
    if (counts[row]) isEmpty[columns.frame[row]] = 0;
  }
  for (let frame = 0; frame < frames.n; frame++) if (isEmpty[frame] && nPredicted[frame] >= 0) add(frame, -1, -1);
  const [frame, truths, predicted] = [columns.frame, columns.truth, columns.predicted].map((all) => all.subarray(0, n));
  return { n, nObjects, frame, truth: truths, predicted, counts: counts.subarray(0, n) };
}

/**
 * The names of all columns of the match tables, those that are asked for most first.
 * @param {View} view
 * @returns {string[]}
 */
export function columnNames(view) {
  const { truth, frames, sequences, submissions } = view;
  const predicted = new Map(submissions.flatMap((submission) => [...submission.predicted.columns]));
  const measure = view.measure.title.startsWith("distance") ? "distance" : "similarity";
  const has = (/** @type {string} */ name) => truth.columns.has(name) || predicted.has(name) ||
    submissions.some(({ pairs }) => pairs.columns.has(name));
  return [
    "outcome",
    ...["kind", "category", "joint", "event", "cause", "detected_as", "detection_of"].filter(has),
    ...(submissions.length > 1 ? ["change"] : []),
    measure,
    ...prefixed("predicted_", predicted.keys()),
    ...prefixed("truth_", truth.columns.keys()),
    "sequence",
    "frame",
    "frame_n_truth",
    "frame_n_predicted",
    ...[...frames.columns.keys()].filter((name) => name.startsWith("frame_")),
    ...[...sequences.columns.keys()].filter((name) => name.startsWith("sequence_")),
    "truth_centre_x",
    "truth_centre_y",
    "offset_x",
    "offset_y",
  ];
}

/**
 * The user's columns, and names, geometry and scores, as match tables call them.
 * @param {string} prefix
 * @param {Iterable<string>} names
 */
function prefixed(prefix, names) {
  return [...names].filter((name) => !["joint", "kind", "event", "cause", "ignored", "detection_of"].includes(name) && !name.startsWith("pair_"))
    .map((name) => (name.startsWith(prefix) ? name : prefix + name));
}

/**
 * The values of a column of the match tables; null where there is no such column.
 * @param {View} view
 * @param {Submission} submission
 * @param {MatchRows} rows
 * @param {string} name
 * @returns {Column | null}
 */
export function valuesOf(view, submission, rows, name) {
  const read = READERS.get(name);
  if (read) return read(view, submission, rows);
  if (name.startsWith("frame_")) return gathered(view.frames.columns.get(name), rows.frame);
  if (name.startsWith("sequence_")) return gathered(view.sequences.columns.get(name), sequenceRows(view.frames, rows));
  if (name.startsWith("truth_")) return gathered(ofSide(view.truth, "truth_", name), rows.truth);
  if (name.startsWith("predicted_")) return gathered(ofSide(submission.predicted, "predicted_", name), rows.predicted);
  return null;
}

/**
 * A column of truths or predictions; the viewer's tables have it without its prefix, unless they have one of that name.
 * @param {Table} table
 * @param {string} prefix
 * @param {string} name
 * @returns {Column | undefined}
 */
function ofSide(table, prefix, name) {
  return table.columns.get(name) ?? table.columns.get(name.slice(prefix.length));
}

/**
 * The values at rows of a table, null where the row is -1.
 * @param {Column | undefined} column
 * @param {Int32Array} at
 * @returns {Column | null}
 */
function gathered(column, at) {
  if (!column) return null;
  if ("numbers" in column) return { ...taken(column.numbers, at), decimals: column.decimals, isSingle: column.isSingle };
  const codes = new Int32Array(at.length);
  for (let i = 0; i < at.length; i++) codes[i] = at[i] < 0 ? -1 : column.codes[at[i]];
  return { name: column.name, codes, values: column.values };
}

/**
 * @param {Float64Array} numbers
 * @param {Int32Array} at
 * @returns {NumberColumn}
 */
function taken(numbers, at) {
  const values = new Float64Array(at.length);
  for (let i = 0; i < at.length; i++) values[i] = at[i] < 0 ? NaN : numbers[at[i]];
  return { name: "", numbers: values };
}

/**
 * @param {Table} frames
 * @param {MatchRows} rows
 */
function sequenceRows(frames, rows) {
  const sequence = numbersOf(frames, "sequence");
  return rows.frame.map((frame) => sequence[frame]);
}

/**
 * @param {View} _view
 * @param {Submission} _submission
 * @param {MatchRows} rows
 * @returns {{name: string, codes: Int32Array, values: string[]}}
 */
function outcomes(_view, _submission, rows) {
  const codes = rows.truth.map((truthRow, i) => {
    const predictedRow = rows.predicted[i];
    if (truthRow < 0 && predictedRow < 0) return EMPTY;
    if (!rows.counts[i]) return IGNORED;
    if (truthRow < 0) return FALSE;
    return predictedRow < 0 ? MISSED : FOUND;
  });
  return { name: "outcome", codes, values: OUTCOMES };
}

/**
 * How many objects of a side the frame of each row has, of joints how many of the same name. Ignored ones do not count.
 * @param {View} view
 * @param {Submission} submission
 * @param {MatchRows} rows
 * @param {Int32Array} side the rows of the side, -1 where there is none
 * @returns {Column}
 */
function countsInFrames(view, submission, rows, side) {
  const joint = either(view.truth, submission.predicted, "joint", rows);
  const { codes, values } = joint ? asText(joint) : { codes: new Int32Array(rows.n), values: [""] };
  const cell = rows.frame.map((frame, i) => frame * values.length + codes[i]);
  const counts = new Int32Array(view.frames.n * values.length);
  for (let i = 0; i < rows.n; i++) if (side[i] >= 0 && rows.counts[i]) counts[cell[i]]++;
  return { name: "", numbers: Float64Array.from(cell, (position) => counts[position]), decimals: 0 };
}

/**
 * A column that truths have, or their pairs, and predictions too: the value of the truth, or else of the prediction.
 * @param {Table} ofTruths
 * @param {Table} predicted
 * @param {string} name
 * @param {MatchRows} rows
 * @returns {Column | null}
 */
function either(ofTruths, predicted, name, rows) {
  const [one, other] = [gathered(ofTruths.columns.get(name), rows.truth), gathered(predicted.columns.get(name), rows.predicted)];
  if (!one || !other) return one ?? other;
  if ("numbers" in one && "numbers" in other) {
    return { ...one, numbers: one.numbers.map((value, i) => (Number.isNaN(value) ? other.numbers[i] : value)) };
  }
  const [first, second] = [asText(one), asText(other)];
  const values = [...new Set([...first.values, ...second.values])];
  const positions = new Map(values.map((value, position) => [value, position]));
  const moved = second.values.map((value) => known(positions.get(value)));
  const codes = first.codes.map((code, i) => (code >= 0 || second.codes[i] < 0 ? code : moved[second.codes[i]]));
  return { name, codes, values };
}

/**
 * @param {Column} column
 * @returns {{name: string, codes: Int32Array, values: string[]}}
 */
function asText(column) {
  if ("codes" in column) return column;
  const values = [...new Set(column.numbers)].filter((value) => !Number.isNaN(value));
  const positions = new Map(values.map((value, position) => [value, position]));
  const codes = Int32Array.from(column.numbers, (value) => positions.get(value) ?? -1);
  return { name: column.name, codes, values: values.map(String) };
}

/**
 * The centres of objects along an axis, px.
 * @param {Table} table
 * @param {string} axis
 * @param {string} size
 */
function centres(table, axis, size) {
  const near = numbersOf(table, axis);
  if (!table.columns.has(size)) return near;
  const sizes = numbersOf(table, size);
  return near.map((value, i) => value + sizes[i] / 2);
}

/**
 * Predicted minus true centres, px.
 * @param {View} view
 * @param {Submission} submission
 * @param {MatchRows} rows
 * @param {string} axis
 * @param {string} size
 * @returns {Column}
 */
function offsets({ truth }, { predicted }, rows, axis, size) {
  const [ofTruths, ofPredictions] = [centres(truth, axis, size), centres(predicted, axis, size)];
  const numbers = new Float64Array(rows.n).fill(NaN);
  for (let i = 0; i < rows.n; i++) {
    if (rows.truth[i] >= 0 && rows.predicted[i] >= 0) numbers[i] = ofPredictions[rows.predicted[i]] - ofTruths[rows.truth[i]];
  }
  return { name: "", numbers };
}

/**
 * What truths became from one submission to another, as texts with who they are about.
 * @param {View} view
 * @returns {Map<string, {before: number, after: number, found: boolean[]}>}
 */
export function changesOf({ submissions }) {
  const texts = new Map();
  submissions.forEach(({ name }, before) => submissions.forEach((other, after) => {
    for (const [was, is] of before === after ? [] : CHANGES) {
      texts.set(`${name} → ${other.name}: ${was} → ${is}`, { before, after, found: [was === "found", is === "found"] });
    }
  }));
  return texts;
}
