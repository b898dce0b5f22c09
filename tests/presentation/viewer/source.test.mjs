import assert from "node:assert/strict";
import { test } from "node:test";

import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { layerOf } from "../../../spotgeo_frames/presentation/viewer/assets/draw.js";
import { cellOf, identityBefore, livesOf, objectAt } from "../../../spotgeo_frames/presentation/viewer/assets/lives.js";
import { EVENTS, MARKS, STATES } from "../../../spotgeo_frames/presentation/viewer/assets/marks.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { detailsOf, headingsOf, linesOf, statusText } from "../../../spotgeo_frames/presentation/viewer/assets/texts.js";
import { tracks } from "./packed.mjs";

const opened = (changed = {}) => {
  const { about, buffer } = tracks();
  return sourceOf(readView({ ...about, ...changed }, buffer));
};
const names = (numbers, texts) => Array.from(numbers, (number) => texts[number]);

test("a frame has its truths and predictions, and what they are", () => {
  const rows = opened().rows(2, 0);
  assert.deepEqual([rows.truth.first, rows.truth.n, rows.predicted.first, rows.predicted.n], [4, 2, 2, 1]);
  assert.deepEqual(names(rows.truthMarks, MARKS), ["found truth", "missed truth"]);
  assert.deepEqual(names(rows.predictedMarks, MARKS), ["right prediction"]);
  assert.deepEqual([[...rows.pair], [...rows.partner]], [[0, -1], [0]]);
  assert.equal(objectAt(rows.predicted, 0), "11");
});

test("counts leave out what is ignored, and a lacking frame has none", () => {
  const source = opened();
  assert.deepEqual(source.counts(1, 0), { found: 0, missed: 2, wrong: 1, ignored: 0 });
  assert.deepEqual(source.counts(3, 0), { found: 0, missed: 0, wrong: 0, ignored: 1 });
  assert.equal(source.counts(3, 1), null);
  assert.equal(source.rows(3, 1).present, false);
});

test("what is matched with an ignored truth is ignored, too", () => {
  const { about, buffer } = tracks();
  const view = readView(about, buffer);
  view.truth.columns.set("ignored", { name: "ignored", codes: Int32Array.of(0, -1, -1, -1, -1, -1), values: ["True"] });
  const source = sourceOf(view);
  assert.deepEqual(names(source.rows(0, 0).predictedMarks, MARKS), ["ignored"]);
  assert.deepEqual(source.counts(0, 0), { found: 0, missed: 1, wrong: 0, ignored: 2 });
});

test("sequences have frames, labels and the user's columns", () => {
  const source = opened();
  assert.deepEqual([...source.frames.first], [0, 3, 4]);
  assert.deepEqual(source.about.sequences.map(({ label }) => label), ["a: 4 missed, 1 false", "constructor: 0 missed, 0 false"]);
  assert.deepEqual([...source.columns(0)], [["weather", "rain"], ["clouds", "few"]]);
  assert.deepEqual([...source.columns(3)], []);
});

test("the lives of objects: found as which identity, missed, gaps and switches", () => {
  const lives = opened().lives(0, 0);
  assert.deepEqual(lives.objects, ["1", "2"]);
  assert.deepEqual([...lives.frame], [0, 1, 2, 0, 1, 2]);
  assert.deepEqual(names(lives.state, STATES), ["found", "missed", "found", "missed", "missed", "missed"]);
  assert.deepEqual(names(lives.event, EVENTS), ["", "gap", "switch", "", "", ""]);
  assert.deepEqual(names(lives.identity, lives.identities).slice(0, 3), ["10", undefined, "11"]);
  assert.deepEqual([...lives.row], [0, 2, 4, 1, 3, 5]);
  assert.equal(identityBefore(lives, 0, cellOf(lives, 0, 2)), "10");
  assert.equal(cellOf(lives, 1, 9), -1);
});

test("what is missed after the last match is no gap", () => {
  const { about, buffer } = tracks();
  const view = readView(about, buffer);
  view.submissions[1].pairs.columns.get("pair").numbers.set([-1, -1], 4);
  const lives = sourceOf(view).lives(0, 1);
  assert.deepEqual(names(lives.state, STATES), ["found", "found", "missed", "found", "found", "missed"]);
  assert.deepEqual(names(lives.event, EVENTS), Array(6).fill(""));
});

test("truths of a frame that a submission lacks are not missed", () => {
  const { about, buffer } = tracks();
  const view = readView(about, buffer);
  view.submissions[1].frames.columns.get("n_predicted").numbers[2] = -1;
  view.submissions[1].pairs.columns.get("pair").numbers.set([-1, -1], 4);
  const source = sourceOf(view);
  assert.equal(source.counts(2, 1), null);
  assert.equal(source.about.sequences[0].label, "a: 4 missed, 1 false");
  assert.equal(source.lives(0, 1).frame.length, 4);
});

test("without identities, the time line counts", () => {
  const lives = opened({ identities: false }).lives(0, 0);
  assert.deepEqual(lives.objects, ["found", "missed", "false"]);
  assert.deepEqual([...lives.count], [1, 0, 1, 1, 2, 1, 0, 1, 0]);
});

test("joints of an object are one life, which may be partly found", () => {
  const rows = opened().rows(2, 0);
  const object = { name: "object", codes: new Int32Array(6), values: ["one"] };
  const truth = { ...rows.truth, table: { n: 6, columns: new Map([["object", object]]) } };
  const lives = livesOf([{ ...rows, truth }]);
  assert.deepEqual([lives.objects, names(lives.state, STATES), [...lives.count]], [["one"], ["partly found"], [2]]);
});

test("the status says where one is and what was counted", () => {
  const source = opened();
  const told = (frame, ...submissions) => statusText(source, frame, submissions, submissions.map((one) => source.counts(frame, one)));
  assert.equal(told(1, 0), "all, sequence a, frame 2 (2 of 3): 0 found, 2 missed, 1 false");
  assert.equal(told(3, 0, 1), "sequence constructor, frame 7 (1 of 1): all 0 found, 0 missed, 0 false, 1 ignored; some does not have this frame");
});

test("the table has a line for each truth and each prediction without one", () => {
  const source = opened();
  const lines = linesOf(source.rows(1, 0), source.about);
  assert.deepEqual(lines.map(({ truth, predicted }) => [truth, predicted]), [[2, -1], [3, -1], [-1, 1]]);
  assert.deepEqual(lines[2].cells, ["false", "no truth in frame", "–", "9", "–", "0.100", "–", "90.0, 90.0"]);
  const [found, ...others] = linesOf(source.rows(2, 0), source.about);
  assert.equal(others.length, 1);
  assert.deepEqual(found.cells, ["found", "switch of identity", "1", "11", "1.50", "0.800", "14.0, 10.0", "15.0, 10.0"]);
});

test("what is under the pointer is told with the user's columns as text", () => {
  const source = opened();
  const details = detailsOf(source.rows(0, 0), "truth", 0, source.about);
  assert.deepEqual(details, [
    ["found truth", "1"], ["prediction", "10"], ["distance, px", "1.00"], ["x, y, px", "10.0, 10.0"], ["brightness", "0.5"], ["__proto__", "<b>"],
  ]);
});

test("turned boxes are told by their own columns and their angle", () => {
  const source = opened({ kind: "boxes", columns: ["x", "y", "brightness"], angle: "brightness" });
  assert.deepEqual(headingsOf(source.about).slice(6).map(({ title }) => title), ["true x, y, px; brightness, °", "predicted x, y, px; brightness, °"]);
  const details = detailsOf(source.rows(0, 0), "truth", 0, source.about);
  assert.deepEqual(details.slice(3), [["x, y, px; brightness, °", "10.0, 10.0; 0.5"], ["__proto__", "<b>"]]);
});

test("what was missed is drawn above what was found, and both above false alarms", () => {
  const source = opened();
  const marks = layerOf(source.rows(1, 0), [], source.about).shapes.map(({ mark }) => MARKS[mark]);
  assert.deepEqual(marks, ["false prediction", "missed truth", "missed truth"]);
  const found = layerOf(source.rows(0, 0), [], source.about).shapes.map(({ mark }) => MARKS[mark]);
  assert.deepEqual(found, ["found truth", "right prediction", "missed truth"]);
});
