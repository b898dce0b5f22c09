// What the viewer says in words: of a frame, of its objects, and of the one under the pointer.

import { numbersOf, textAt } from "./columns.js";
import { objectAt } from "./lives.js";
import { EVENTS, MARKS, STATES, SWITCH } from "./marks.js";

/**
 * @import { Counts, FrameRows, Rows, Side } from "./lives.js"
 * @import { Source, SourceFacts } from "./source.js"
 *
 * A line of the table of objects: a truth with its prediction, or one of them; -1 where there is none.
 * @typedef {{submission: number, truth: number, predicted: number, cells: string[]}} Line
 */

const DASH = "–";
const BOXES = "; its masks are drawn as the boxes around them, since there is no room for all masks";
const BOX_COLUMNS = ["x", "y", "w", "h"];

/** The columns that are told in another way than by their name and value. */
const TOLD = new Set([...BOX_COLUMNS, "object", "joint", "kind", "event", "ignored", "score", "category",
  "pair_object", "pair_distance", "pair_similarity"]);

/**
 * @param {string} name
 * @returns {string}
 */
function inWords(name) {
  return name.replaceAll("_", " ");
}

/**
 * A count with its noun: 1 frame, 2,000 frames.
 * @param {number} n
 * @param {string} noun
 * @returns {string}
 */
export function counted(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * What was counted in a frame.
 * @param {Counts | null} counts
 * @returns {string}
 */
export function tallyText(counts) {
  if (!counts) return "does not have this frame";
  const { found, missed, wrong, ignored } = counts;
  return `${found} found, ${missed} missed, ${wrong} false${ignored ? `, ${ignored} ignored` : ""}`;
}

/**
 * The file of the picture of a frame, where the user's columns name it.
 * @param {Source} source
 * @param {number} frame
 * @returns {string | null}
 */
function fileOf(source, frame) {
  return source.columns(frame).get("file_name") ?? null;
}

/**
 * What a frame is called in short: by the file of its picture, or else by its sequence and number.
 * @param {Source} source
 * @param {number} frame
 * @returns {string}
 */
export function frameName(source, frame) {
  const { about, frames } = source;
  const file = fileOf(source, frame)?.split("/").at(-1);
  return file || `${about.sequences[frames.sequence[frame]].name}, frame ${frames.name[frame]}`;
}

/**
 * Where one is, and what was counted there for each shown submission.
 * @param {Source} source
 * @param {number} frame
 * @param {number[]} submissions
 * @param {(Counts | null)[]} counts
 * @returns {string}
 */
export function statusText(source, frame, submissions, counts) {
  const { about, frames } = source;
  const sequence = frames.sequence[frame];
  const file = fileOf(source, frame);
  const [first, end] = [frames.first[sequence], frames.first[sequence + 1]];
  const place = `${file === null ? "" : `${file}, `}sequence ${about.sequences[sequence].name}, frame ${frames.name[frame]} (${frame - first + 1} of ${end - first})`;
  const names = submissions.map((submission) => about.submissions[submission]);
  if (names.length === 1) return `${about.submissions.length > 1 ? `${names[0]}, ` : ""}${place}: ${tallyText(counts[0])}`;
  return `${place}: ${names.map((name, i) => `${name} ${tallyText(counts[i])}`).join("; ")}`;
}

/**
 * That masks of a frame are drawn as boxes, where there was no room for them.
 * @param {FrameRows[]} frames the frame in each submission
 * @returns {string}
 */
export function boxesText(frames) {
  const lacks = (/** @type {Rows} */ { table, at, n }) => table.masks?.lengths.subarray(at, at + n).some((length) => length < 0);
  return frames.some(({ truth, predicted }) => lacks(truth) || lacks(predicted)) ? BOXES : "";
}

/**
 * The headings of the table of objects.
 * @param {SourceFacts} about
 * @returns {{title: string, numeric: boolean}[]}
 */
export function headingsOf(about) {
  const coordinates = placeTitle(about);
  const titles = ["outcome", "kind of error", "truth", "prediction", about.measure.title, "score", `true ${coordinates}`, `predicted ${coordinates}`];
  return titles.map((title, i) => ({ title, numeric: i === 4 || i === 5 }));
}

/**
 * The first lines of the table: truths in file order, each with its prediction, then predictions that have no truth.
 * @param {FrameRows} rows
 * @param {SourceFacts} about
 * @param {number} [most] how many
 * @returns {Line[]}
 */
export function linesOf(rows, about, most = Infinity) {
  const lines = [];
  for (let i = 0; i < rows.truth.n && lines.length < most; i++) lines.push(lineOf(rows, about, i, rows.pair[i]));
  for (let i = 0; i < rows.predicted.n && lines.length < most; i++) if (rows.partner[i] < 0) lines.push(lineOf(rows, about, -1, i));
  return lines;
}

/**
 * How many lines the table has.
 * @param {FrameRows} rows
 */
export function countOfLines({ truth, partner }) {
  return truth.n + partner.filter((truth) => truth < 0).length;
}

/**
 * @param {FrameRows} rows
 * @param {SourceFacts} about
 * @param {number} truth its position in the frame, -1 where there is none
 * @param {number} predicted its position in the frame, -1 where there is none
 * @returns {Line}
 */
function lineOf(rows, about, truth, predicted) {
  const { submission } = rows;
  const score = predicted < 0 ? NaN : numberAt(rows.predicted, "score", predicted);
  return {
    submission,
    truth: truth < 0 ? -1 : rows.truth.first + truth,
    predicted: predicted < 0 ? -1 : rows.predicted.first + predicted,
    cells: [
      STATES[truth < 0 ? rows.predictedMarks[predicted] : rows.truthMarks[truth]],
      kindOf(rows, truth, predicted) ?? DASH,
      truth < 0 ? DASH : nameOf(rows.truth, truth),
      predicted < 0 ? DASH : nameOf(rows.predicted, predicted),
      measureOf(rows, about, truth),
      Number.isNaN(score) ? DASH : score.toPrecision(3),
      truth < 0 ? DASH : placeOf(rows.truth, about, truth),
      predicted < 0 ? DASH : placeOf(rows.predicted, about, predicted),
    ],
  };
}

/**
 * @param {Rows} rows
 * @param {string} name
 * @param {number} i
 */
function numberAt(rows, name, i) {
  const column = rows.table.columns.get(name);
  return column && "numbers" in column ? column.numbers[rows.at + i] : NaN;
}

/**
 * @param {Rows} rows
 * @param {string} name
 * @param {number} i
 */
function cellAt(rows, name, i) {
  return textAt(rows.table.columns.get(name), rows.at + i);
}

/**
 * The name of an object, of a joint with that of its object.
 * @param {Rows} rows
 * @param {number} i
 * @returns {string}
 */
function nameOf(rows, i) {
  const joint = cellAt(rows, "joint", i);
  return joint === null ? objectAt(rows, i) : `${objectAt(rows, i)}, ${joint}`;
}

/**
 * The kind of error of a miss or a false alarm.
 * @param {FrameRows} rows
 * @param {number} truth
 * @param {number} predicted
 */
function kindOf(rows, truth, predicted) {
  if (truth < 0) {
    const kind = cellAt(rows.predicted, "kind", predicted);
    return kind === null ? null : inWords(kind);
  }
  const kind = cellAt(rows.pairs, "kind", truth);
  if (kind !== null) return inWords(kind);
  return cellAt(rows.pairs, "event", truth) === EVENTS[SWITCH] ? "switch of identity" : null;
}

/**
 * @param {FrameRows} rows
 * @param {SourceFacts} about
 * @param {number} truth
 */
function measureOf(rows, { measure }, truth) {
  const value = truth < 0 ? NaN : numberAt(rows.pairs, "measure", truth);
  return Number.isNaN(value) ? DASH : value.toFixed(measure.decimals);
}

/**
 * A value of the measure with its name and unit: IoU 0.46, distance 12.3 px.
 * @param {SourceFacts} about
 * @param {number} value
 */
function measureText({ measure: { title, decimals } }, value) {
  const [name, unit] = title.split(", ");
  return `${name} ${value.toFixed(decimals)}${unit ? ` ${unit}` : ""}`;
}

/**
 * What explains an error: the object of the other side, how near it is, and why the two are no pair.
 * @param {FrameRows} rows
 * @param {Side} side
 * @param {number} i counted from the frame's first
 * @param {SourceFacts} about
 * @returns {string | null}
 */
function nearText(rows, side, i, about) {
  const explained = side === "truth" ? rows.pairs : rows.predicted;
  const [name, value] = [cellAt(explained, "pair_object", i), nearness(explained, i)];
  if (name === null || Number.isNaN(value)) return null;
  const others = rows[side === "truth" ? "predicted" : "truth"];
  const partners = side === "truth" ? rows.partner : rows.pair;
  const taken = Array.from(partners).find((partner, other) => partner >= 0 && objectAt(others, other) === name);
  return `#${name}, ${measureText(about, value)}${taken === undefined ? neededText(about, value) : `, taken by #${objectAt(rows[side], taken)}`}`;
}

/**
 * @param {Rows} rows
 * @param {number} i
 */
function nearness(rows, i) {
  return ["pair_similarity", "pair_distance"].map((name) => numberAt(rows, name, i)).find((value) => !Number.isNaN(value)) ?? NaN;
}

/**
 * What a pair needs, where that is why there is none.
 * @param {SourceFacts} about
 * @param {number} value
 */
function neededText({ measure: { title, needed } }, value) {
  if (needed === undefined) return "";
  if (title.startsWith("distance")) return value > needed ? `; ${needed} at most is needed` : "";
  return value < needed ? `; ${needed} is needed` : "";
}

/**
 * The columns that tell where a row is.
 * @param {SourceFacts} about
 * @returns {string[]}
 */
function placeColumns({ kind, columns }) {
  return columns ?? (kind === "boxes" ? BOX_COLUMNS : BOX_COLUMNS.slice(0, 2));
}

/**
 * These columns as a title.
 * @param {SourceFacts} about
 */
function placeTitle(about) {
  const { angle } = about;
  const lengths = placeColumns(about).filter((name) => name !== angle);
  return `${lengths.join(", ")}, px${angle ? `; ${angle}, °` : ""}`;
}

/**
 * @param {Rows} rows
 * @param {SourceFacts} about
 * @param {number} i
 */
function placeOf(rows, about, i) {
  const { angle, decimals } = about;
  const told = (/** @type {string[]} */ names) => {
    const values = names.map((name) => numberAt(rows, name, i)).filter((value) => !Number.isNaN(value));
    return values.map((value) => value.toFixed(decimals)).join(", ");
  };
  // A side may have other rows than these: points that middles are compared with.
  const lengths = told(placeColumns(about).filter((name) => name !== angle)) || told(BOX_COLUMNS.slice(0, 2)) || DASH;
  const turn = angle ? told([angle]) : "";
  return turn ? `${lengths}; ${turn}` : lengths;
}

/**
 * What is known of one row, as labels and values.
 * @param {FrameRows} rows
 * @param {Side} side
 * @param {number} row
 * @param {SourceFacts} about
 * @returns {[label: string, value: string][]}
 */
export function detailsOf(rows, side, row, about) {
  const own = rows[side];
  const i = row - own.first;
  const other = side === "truth" ? rows.pair[i] : rows.partner[i];
  const [truth, predicted] = side === "truth" ? [i, other] : [other, i];
  const mark = (side === "truth" ? rows.truthMarks : rows.predictedMarks)[i];
  const whose = side === "truth" ? "predicted" : "truth";
  const score = cellAt(own, "score", i);
  /** @type {[string, string | null][]} */
  const told = [
    [MARKS[mark], nameOf(own, i)],
    ["kind of error", kindOf(rows, truth, predicted)],
    [side === "truth" ? "prediction" : "truth", other < 0 ? null : nameOf(rows[whose], other)],
    [about.measure.title, other < 0 ? null : measureOf(rows, about, truth)],
    [`nearest ${side === "truth" ? "prediction" : "truth"}`, other < 0 ? nearText(rows, side, i, about) : null],
    [placeTitle(about), placeOf(own, about, i)],
    ["score", score],
    ["category", cellAt(own, "category", i)],
  ];
  const joints = about.kind === "poses" ? about.joints.flatMap((joint) => [`x_${joint}`, `y_${joint}`]) : [];
  const hidden = new Set([...joints, ...placeColumns(about)]);
  for (const name of own.table.columns.keys()) {
    if (!TOLD.has(name) && !hidden.has(name)) told.push([name, cellAt(own, name, i)]);
  }
  return told.flatMap(([label, value]) => (value === null || value === DASH ? [] : [/** @type {[string, string]} */ ([label, value])]));
}

/**
 * The label of an object: its identity, its category and its score. One that is pointed at has all that is known of it
 * in few words, another only what its partner does not say.
 * @param {FrameRows} rows
 * @param {Side} side
 * @param {number} row
 * @param {SourceFacts} about
 * @param {boolean} isPointedAt
 * @returns {string}
 */
export function labelText(rows, side, row, about, isPointedAt) {
  const own = rows[side];
  const i = row - own.first;
  const truth = side === "truth" ? i : rows.partner[i];
  const isFoundTruth = side === "truth" && rows.pair[i] >= 0;
  if (isFoundTruth && !isPointedAt) return "";
  const score = side === "truth" ? NaN : numberAt(own, "score", i);
  const isPaired = isFoundTruth || (side === "predicted" && truth >= 0);
  const told = [
    about.identities ? `#${objectAt(own, i)}` : null,
    isPointedAt ? cellAt(own, "joint", i) : null,
    cellAt(own, "category", i),
    Number.isNaN(score) ? null : String(Number(score.toPrecision(2))),
  ];
  const near = isPointedAt && isPaired ? measureText(about, numberAt(rows.pairs, "measure", truth)) : "";
  return [told.filter((text) => text !== null).join(" "), near].filter(Boolean).join(", ");
}

/**
 * What a row is, in one line: "missed (localization), car; nearest #7, IoU 0.46; 0.5 is needed".
 * @param {FrameRows} rows
 * @param {{side: Side, row: number}} told
 * @param {SourceFacts} about
 * @returns {string}
 */
export function rowText(rows, { side, row }, about) {
  const i = row - rows[side].first;
  const other = side === "truth" ? rows.pair[i] : rows.partner[i];
  const [truth, predicted] = side === "truth" ? [i, other] : [other, i];
  const ofBoth = (/** @type {string} */ name) => {
    const texts = [truth < 0 ? null : cellAt(rows.truth, name, truth), predicted < 0 ? null : cellAt(rows.predicted, name, predicted)];
    return [...new Set(texts.filter((text) => text !== null))].join(" as ");
  };
  const outcome = STATES[truth < 0 ? rows.predictedMarks[predicted] : rows.truthMarks[truth]];
  const kind = kindOf(rows, truth, predicted);
  const score = predicted < 0 ? NaN : numberAt(rows.predicted, "score", predicted);
  const told = [
    kind ? `${outcome} (${kind})` : outcome,
    about.identities ? `#${objectAt(rows[side], i)}` : "",
    ofBoth("joint"),
    ofBoth("category"),
    Number.isNaN(score) ? "" : `score ${Number(score.toPrecision(3))}`,
    truth < 0 || predicted < 0 ? "" : measureText(about, numberAt(rows.pairs, "measure", truth)),
  ];
  const near = other < 0 ? nearText(rows, side, i, about) : null;
  return told.filter(Boolean).join(", ") + (near ? `; nearest ${near}` : "");
}

/**
 * Whether any submission's predictions have scores; else their column says nothing.
 * @param {FrameRows[]} frames
 * @returns {boolean}
 */
export function haveScores(frames) {
  return frames.some(({ predicted }) => predicted.n > 0 && !Number.isNaN(numbersOf(predicted.table, "score")[predicted.at]));
}

/**
 * Whether kinds of error are known of any submission; else their column says nothing.
 * @param {FrameRows[]} frames
 * @returns {boolean}
 */
export function haveKinds(frames) {
  return frames.some(({ pairs, predicted }) => ["kind", "event"].some((name) => pairs.table.columns.has(name) || predicted.table.columns.has(name)));
}
