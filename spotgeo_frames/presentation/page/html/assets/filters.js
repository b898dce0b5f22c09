// Filters: lists of conditions, all of which hold, as what passes them in each submission.

import { known, numbersOf } from "../../../viewer/assets/columns.js";
import { changesOf, columnNames, matchRowsOf, valuesOf } from "./match_rows.js";

/**
 * @import { View } from "../../../viewer/assets/columns.js"
 * @import { MatchRows } from "./match_rows.js"
 *
 * A condition on a column: its text is one of these, or its number lies between these, both included.
 * @typedef {{column: string, is: string[]}} OneOf
 * @typedef {{column: string, from: number | null, to: number | null}} Between
 * @typedef {OneOf | Between} Condition
 * @typedef {{values: string[]} | {least: number, most: number}} Choices
 *
 * @typedef {object} Passing what passes a filter, for each submission
 * @property {Uint8Array[]} truth 1 for each truth that passes
 * @property {Uint8Array[]} predicted 1 for each prediction that passes
 * @property {Int32Array[]} tally how many rows pass in each frame
 * @property {Uint8Array[]} frames 1 for each frame that has a row that passes; an empty frame has one row
 * @property {number[]} passing how many rows pass
 * @property {number[]} all how many rows there are
 */

/** Numbers are equal up to this share of their size, since cells of tables show rounded numbers. */
const ROUNDED = 1e-6;

/** A text column with more values is asked for by typing, not by choosing. */
export const MOST_CHOICES = 200;

const MOST_CONDITIONS = 20;
const BREAKS = ["switch", "gap"];

/** @type {WeakMap<View, Map<string, Choices | null>>} */
const KNOWN_CHOICES = new WeakMap();

/**
 * What passes all conditions.
 * @param {View} view
 * @param {Condition[]} conditions
 * @returns {Passing}
 */
export function passingOf(view, conditions) {
  const of = view.submissions.map((submission, i) => {
    const rows = matchRowsOf(view, submission);
    const keeps = new Uint8Array(rows.n).fill(1);
    for (const condition of conditions) narrow(keeps, view, i, rows, condition);
    return spread(keeps, rows, view.truth.n, submission.predicted.n, view.frames.n);
  });
  return {
    truth: of.map(({ truth }) => truth),
    predicted: of.map(({ predicted }) => predicted),
    tally: of.map(({ tally }) => tally),
    frames: of.map(({ frames }) => frames),
    passing: of.map(({ passing }) => passing),
    all: of.map(({ all }) => all),
  };
}

/**
 * @param {Uint8Array} keeps
 * @param {MatchRows} rows
 * @param {number} nTruth
 * @param {number} nPredicted
 * @param {number} nFrames
 */
function spread(keeps, rows, nTruth, nPredicted, nFrames) {
  const [truth, predicted] = [new Uint8Array(nTruth), new Uint8Array(nPredicted)];
  const [tally, frames] = [new Int32Array(nFrames), new Uint8Array(nFrames)];
  let passing = 0;
  for (let i = 0; i < rows.n; i++) {
    if (!keeps[i]) continue;
    frames[rows.frame[i]] = 1;
    if (i >= rows.objects) continue;
    passing++;
    tally[rows.frame[i]]++;
    if (rows.truth[i] >= 0) truth[rows.truth[i]] = 1;
    if (rows.predicted[i] >= 0) predicted[rows.predicted[i]] = 1;
  }
  return { truth, predicted, tally, frames, passing, all: rows.objects };
}

/**
 * Sets to 0 what does not pass a condition; null never passes.
 * @param {Uint8Array} keeps
 * @param {View} view
 * @param {number} submission
 * @param {MatchRows} rows
 * @param {Condition} condition
 */
function narrow(keeps, view, submission, rows, condition) {
  const { column } = condition;
  if (column === "change" && "is" in condition) return narrowByChange(keeps, view, rows, condition.is);
  // Of tracks, switches and gaps are kinds of error, too.
  const names = column === "kind" ? ["kind", "event"] : [column];
  const columns = names.flatMap((name) => valuesOf(view, view.submissions[submission], rows, name) ?? []);
  const tests = columns.map((values) => ("codes" in values ? textTest(values, condition) : numberTest(values.numbers, condition)));
  for (let i = 0; i < keeps.length; i++) if (keeps[i] && !tests.some((passes) => passes(i))) keeps[i] = 0;
}

/**
 * @param {{codes: Int32Array, values: string[]}} column
 * @param {Condition} condition
 * @returns {(i: number) => boolean}
 */
function textTest({ codes, values }, condition) {
  const wanted = new Set("is" in condition ? condition.is : []);
  const passes = values.map((value) => wanted.has(value));
  return (i) => codes[i] >= 0 && passes[codes[i]];
}

/**
 * @param {Float64Array} numbers
 * @param {Condition} condition
 * @returns {(i: number) => boolean}
 */
function numberTest(numbers, condition) {
  if (!("is" in condition)) {
    const [low, high] = [condition.from ?? -Infinity, condition.to ?? Infinity];
    return (i) => numbers[i] >= low - room(low) && numbers[i] <= high + room(high);
  }
  const wanted = condition.is.map(numberOf);
  return (i) => wanted.some((value) => isAsShown(numbers[i], value));
}

/**
 * Whether a number is the one that a cell shows; whole numbers are shown as they are.
 * @param {number} value
 * @param {number} shown
 */
function isAsShown(value, shown) {
  if (Number.isInteger(value) && Number.isInteger(shown)) return value === shown;
  return Math.abs(value - shown) <= room(shown);
}

/** @param {number} value */
function room(value) {
  return Number.isFinite(value) ? ROUNDED * Math.abs(value) : 0;
}

/**
 * Truths change, whichever submission is looked at.
 * @param {Uint8Array} keeps
 * @param {View} view
 * @param {MatchRows} rows
 * @param {string[]} texts
 */
function narrowByChange(keeps, view, rows, texts) {
  const changes = changesOf(view);
  const wanted = texts.flatMap((text) => changes.get(text) ?? []).map(({ before, after, found }) => ({
    found,
    pairs: [before, after].map((i) => numbersOf(view.submissions[i].pairs, "pair")),
    has: [before, after].map((i) => numbersOf(view.submissions[i].frames, "n_predicted")),
  }));
  for (let i = 0; i < keeps.length; i++) {
    const [truth, frame] = [rows.truth[i], rows.frame[i]];
    const passes = truth >= 0 && wanted.some(({ found, pairs, has }) =>
      found.every((is, j) => has[j][frame] >= 0 && is === pairs[j][truth] >= 0));
    if (!passes) keeps[i] = 0;
  }
}

/**
 * A number as tables write it.
 * @param {string} text
 */
function numberOf(text) {
  return text.trim() ? Number(text.replaceAll(",", "")) : NaN;
}

/**
 * What a column can be asked for: its texts in order, or its least and greatest number; null for an unknown column.
 * @param {View} view
 * @param {string} name
 * @returns {Choices | null}
 */
export function choicesOf(view, name) {
  const ofColumns = KNOWN_CHOICES.get(view) ?? new Map();
  KNOWN_CHOICES.set(view, ofColumns);
  if (!ofColumns.has(name)) ofColumns.set(name, findChoices(view, name));
  return ofColumns.get(name) ?? null;
}

/**
 * @param {View} view
 * @param {string} name
 * @returns {Choices | null}
 */
function findChoices(view, name) {
  if (name === "change") return { values: [...changesOf(view).keys()] };
  if (!columnNames(view).includes(name)) return null;
  const columns = view.submissions.flatMap((submission) => valuesOf(view, submission, matchRowsOf(view, submission), name) ?? []);
  const texts = columns.flatMap((column) => ("codes" in column ? [column] : []));
  if (name === "kind") return { values: [...usedTexts(texts, name), ...breaksIn(view)] };
  if (texts.length) return { values: usedTexts(texts, name) };
  let [least, most] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const value of "numbers" in column ? column.numbers : []) [least, most] = [value < least ? value : least, value > most ? value : most];
  }
  return { least, most };
}

/**
 * What breaks tracks, of what there is in a view.
 * @param {View} view
 * @returns {string[]}
 */
function breaksIn(view) {
  const events = choicesOf(view, "event");
  return events && "values" in events ? BREAKS.filter((event) => events.values.includes(event)) : [];
}

/**
 * The texts that occur, sorted; outcomes in their own order.
 * @param {{codes: Int32Array, values: string[]}[]} columns
 * @param {string} name
 */
function usedTexts(columns, name) {
  const used = new Set();
  for (const { codes, values } of columns) {
    const occurs = new Uint8Array(values.length + 1);
    for (const code of codes) occurs[code + 1] = 1;
    values.forEach((value, place) => { if (occurs[place + 1]) used.add(value); });
  }
  const texts = [...used];
  return name === "outcome" ? texts : texts.sort(new Intl.Collator("en", { numeric: true }).compare);
}

/**
 * Conditions about rows that this view has; null where it has nothing that one of them means.
 * @param {View} view
 * @param {Condition[]} conditions
 * @returns {Condition[] | null}
 */
export function heldConditions(view, conditions) {
  const size = (/** @type {Condition} */ one) => ("is" in one ? one.is.length : 0);
  const held = possibleConditions(view, conditions);
  return held.length === conditions.length && held.every((one, i) => size(one) === size(conditions[i])) ? held : null;
}

/**
 * Those of some conditions, which may be anything, that this view can be asked for.
 * @param {View} view
 * @param {unknown} conditions
 * @returns {Condition[]}
 */
export function possibleConditions(view, conditions) {
  if (!Array.isArray(conditions)) return [];
  return conditions.slice(0, MOST_CONDITIONS).flatMap((condition) => possibleCondition(view, condition) ?? []);
}

/**
 * @param {View} view
 * @param {any} condition
 * @returns {Condition | null}
 */
function possibleCondition(view, condition) {
  const choices = typeof condition?.column === "string" ? choicesOf(view, condition.column) : null;
  if (!choices) return null;
  const { column, is, from = null, to = null } = condition;
  if (Array.isArray(is)) {
    const texts = is.filter((value) => ["string", "number"].includes(typeof value)).map(String);
    const there = "values" in choices ? texts.filter((text) => choices.values.includes(text)) : texts.filter((text) => Number.isFinite(numberOf(text)));
    return there.length ? { column, is: "values" in choices ? there : there.map((text) => String(numberOf(text))) } : null;
  }
  const isBound = (/** @type {unknown} */ value) => value === null || Number.isFinite(value);
  if ("values" in choices || !isBound(from) || !isBound(to) || (from === null && to === null)) return null;
  return { column, from, to };
}

/**
 * A condition in words.
 * @param {Condition} condition
 * @returns {string}
 */
export function conditionText(condition) {
  const name = condition.column;
  if ("is" in condition) return `${name} is ${condition.is.join(" or ")}`;
  const [from, to] = [condition.from, condition.to].map((value) => (value === null ? "" : String(Number(value.toPrecision(6)))));
  if (!to) return `${name} is at least ${from}`;
  if (!from) return `${name} is at most ${to}`;
  return `${name} is from ${from} to ${to}`;
}

/**
 * The frames that pass in any of these submissions, in order.
 * @param {Passing} passing
 * @param {number[]} submissions
 * @returns {Int32Array}
 */
export function framesOfPassing({ frames }, submissions) {
  const n = known(frames[0]).length;
  return Int32Array.from({ length: n }, (_, frame) => frame).filter((frame) => submissions.some((i) => frames[i][frame]));
}
