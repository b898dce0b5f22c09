import assert from "node:assert/strict";
import { test } from "node:test";

import { chosenFrames, possibleGallery } from "../../../spotgeo_frames/presentation/page/html/assets/gallery.js";
import { addressOf, conditionsOf, shownOf } from "../../../spotgeo_frames/presentation/page/html/assets/links.js";
import { conditionsOfMark } from "../../../spotgeo_frames/presentation/page/html/assets/charts.js";
import { conditionsOfRow, ordered } from "../../../spotgeo_frames/presentation/page/html/assets/tables.js";
import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { tracks } from "../viewer/packed.mjs";

const opened = () => {
  const { about, buffer } = tracks();
  return sourceOf(readView(about, buffer));
};
const STATE = {
  frame: 2, submissions: [1, 0], layout: "over", colour: "identity", trail: 5, marks: true, labels: false,
  camera: { x: 12.5, y: -3, scale: 2 }, selected: { side: "truth", submission: 1, row: 4 },
};
const FILTER = [{ column: "truth_&=#", is: ["a b", "ü"] }];
const GALLERY = { order: "random", seed: 77, shown: 24 };
const PATCHES = { by: "truth_a b", rising: true, shown: 36 };

test("an address names all that is shown", () => {
  const source = opened();
  const shown = shownOf(source, addressOf(source, STATE, FILTER, GALLERY, PATCHES));
  assert.deepEqual(shown, { viewer: STATE, object: null, filter: FILTER, gallery: GALLERY, patches: PATCHES });
});

test("an address may name a truth to select, and its joint", () => {
  assert.deepEqual(shownOf(opened(), "#view?truth=7&joint=knee")?.object, { truth: "7", joint: "knee" });
  assert.deepEqual(shownOf(opened(), "#view?truth=7")?.object, { truth: "7", joint: null });
});

test("other anchors name no view", () => {
  assert.equal(shownOf(opened(), "#errors"), null);
  assert.equal(shownOf(opened(), ""), null);
  assert.equal(shownOf(opened(), `#view?${"a".repeat(30_000)}`), null);
});

test("what an address may say of another page is passed over", () => {
  const source = opened();
  const { viewer, filter, gallery } = shownOf(source, "#view?sequence=__proto__&submission=nobody&filter=[&gallery=random&zoom=x&selected=1");
  assert.deepEqual([viewer.submissions, "frame" in viewer, filter], [[], false, []]);
  assert.deepEqual(possibleGallery(gallery), { order: "random", seed: 0, shown: 12 });
  assert.equal(shownOf(source, "#view?sequence=constructor&frame=99").viewer.frame, 3, "the first of the sequence");
});

test("the conditions of an address are those of its filter, and its submissions", () => {
  const source = opened();
  const names = STATE.submissions.map((position) => source.about.submissions[position]);
  assert.deepEqual(conditionsOf(addressOf(source, STATE, FILTER, GALLERY, PATCHES)), [{ column: "submission", is: names }, ...FILTER]);
  for (const other of ["", "#errors", "#view?filter=[", "#view?filter={}"]) assert.deepEqual(conditionsOf(other), []);
});

test("the worst frames come first, and a sample is the same for the same seed", () => {
  const frames = Int32Array.from({ length: 40 }, (_, i) => 2 * i);
  const gallery = { order: "worst", seed: 0, shown: 3 };
  assert.deepEqual(chosenFrames(frames, (frame) => -frame, gallery), [0, 2, 4]);
  assert.deepEqual(chosenFrames(frames, () => 1, gallery), [0, 2, 4]);
  const sample = (seed, shown) => chosenFrames(frames, () => 0, { order: "random", seed, shown });
  assert.deepEqual(sample(5, 12), sample(5, 24).slice(0, 12));
  assert.notDeepEqual(sample(5, 12), sample(6, 12));
  assert.equal(new Set(sample(5, 100)).size, 40);
  assert.ok(sample(5, 100).every((frame) => frames.includes(frame)));
});

test("a gallery shows what it can", () => {
  assert.deepEqual(possibleGallery({ order: "random", seed: -1, shown: 1e9 }), { order: "random", seed: 0, shown: 120 });
  assert.deepEqual(possibleGallery({}), { order: "worst", seed: 0, shown: 12 });
});

test("a mark tells what it counts, an axis does not", () => {
  const filters = [{ column: "submission", is: "submission" }, { column: "truth_centre_x", from: "x", to: "x2" }];
  const mark = { submission: "a", x: 1, x2: 2 };
  assert.deepEqual(conditionsOfMark(filters, mark), [{ column: "submission", is: ["a"] }, { column: "truth_centre_x", from: 1, to: 2 }]);
  assert.deepEqual(conditionsOfMark(filters, { x: 1, x2: 2 }), [{ column: "truth_centre_x", from: 1, to: 2 }]);
  for (const datum of [undefined, {}, { x: 1 }, { x: 1, x2: null }]) assert.equal(conditionsOfMark(filters, datum), null);
  assert.deepEqual(conditionsOfMark([{ column: "predicted_score", from: "at" }], { at: 0.5 }), [{ column: "predicted_score", from: 0.5, to: null }]);
});

test("cells of a row are conditions, but for a row that has a dash there", () => {
  assert.deepEqual(conditionsOfRow(["a", "5", "x"], { 0: "submission", 1: "sequence" }, "–"), [{ column: "submission", is: ["a"] }, { column: "sequence", is: ["5"] }]);
  assert.deepEqual(conditionsOfRow(["a", "–"], { 1: "kind" }, "–"), []);
});

test("rows sort as numbers, texts or by position, a dash last", () => {
  const rows = [["b", "10"], ["a", "–"], ["a", "9"]];
  const data = { rows, kinds: ["text", "number"], positions: {}, filters: {} };
  assert.deepEqual(ordered(data, 0, false, "–"), [1, 2, 0]);
  assert.deepEqual(ordered(data, 1, false, "–"), [2, 0, 1]);
  assert.deepEqual(ordered(data, 1, true, "–"), [0, 2, 1]);
  assert.deepEqual(ordered({ ...data, kinds: ["position", "text"], positions: { 0: [2, 0, 1] } }, 0, false, "–"), [1, 2, 0]);
});
