import assert from "node:assert/strict";
import { test } from "node:test";

import { passingOf } from "../../../spotgeo_frames/presentation/page/html/assets/filters.js";
import { patchesOf, possibleOrder } from "../../../spotgeo_frames/presentation/page/html/assets/patch_rows.js";
import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { surroundings } from "../../../spotgeo_frames/presentation/viewer/assets/geometry.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { rowText } from "../../../spotgeo_frames/presentation/viewer/assets/texts.js";
import { tracks } from "../viewer/packed.mjs";

const opened = () => {
  const { about, buffer } = tracks();
  return readView(about, buffer);
};
const named = ({ patches }) => patches.map(({ object: { side, row } }) => `${side} ${row}`);

test("without a filter there are the errors, sorted by a number, those without one last", () => {
  const view = opened();
  const order = possibleOrder(view, {});
  assert.deepEqual(order, { by: "predicted_score", rising: false, shown: 12 });
  assert.deepEqual(named(patchesOf(view, 0, null, order)), ["predicted 1", "truth 1", "truth 2", "truth 3", "truth 5"]);
  const byBrightness = (rising) => named(patchesOf(view, 0, null, { by: "truth_brightness", rising, shown: 12 }));
  assert.deepEqual(byBrightness(false), ["truth 5", "truth 3", "truth 1", "truth 2", "predicted 1"]);
  assert.deepEqual(byBrightness(true), ["truth 1", "truth 3", "truth 5", "truth 2", "predicted 1"]);
  assert.deepEqual(named(patchesOf(view, 0, null, { by: "", rising: false, shown: 12 })), ["truth 1", "truth 2", "truth 3", "predicted 1", "truth 5"]);
  assert.deepEqual(patchesOf(view, 1, null, order), { patches: [], n: 0 });
  const all = passingOf(view, []);
  const unscored = patchesOf(view, 1, all, order).patches.map(({ frame }) => frame);
  assert.deepEqual(unscored, unscored.toSorted((a, b) => a - b), "a submission without scores is in the order of frames");
});

test("with a filter there are the rows that pass, found ones once", () => {
  const view = opened();
  const found = passingOf(view, [{ column: "outcome", is: ["found"] }]);
  assert.deepEqual(patchesOf(view, 0, found, { by: "predicted_score", rising: true, shown: 1 }), {
    patches: [{ frame: 2, object: { side: "truth", submission: 0, row: 4 } }], n: 2,
  });
  const ignored = passingOf(view, [{ column: "outcome", is: ["ignored"] }]);
  assert.deepEqual(named(patchesOf(view, 0, ignored, possibleOrder(view, {}))), ["predicted 3"]);
});

test("an order is one that there is", () => {
  const view = opened();
  assert.deepEqual(possibleOrder(view, { by: "kind", rising: 1, shown: 1e9 }), { by: "predicted_score", rising: false, shown: 120 });
  assert.deepEqual(possibleOrder(view, { by: "", rising: true, shown: 24 }), { by: "", rising: true, shown: 24 });
  assert.equal(possibleOrder(view, { by: "frame_n_truth" }).by, "frame_n_truth");
});

test("a row is told in a line", () => {
  const source = sourceOf(opened());
  const told = (frame, side, row) => rowText(source.rows(frame, 0), { side, row }, source.about);
  assert.equal(told(0, "truth", 0), "found, #1, score 0.9, distance 1.00 px");
  assert.equal(told(0, "predicted", 0), "found, #10, score 0.9, distance 1.00 px");
  assert.equal(told(0, "truth", 1), "missed (lost), #2");
  assert.equal(told(1, "predicted", 1), "false (no truth in frame), #9, score 0.1");
});

test("a patch is twice as wide as its object, or reaches beyond its point", () => {
  const whole = [0, 100, 0, 60];
  assert.deepEqual(surroundings(whole, [[10, 20, 4, 8]], 0), [4, 20, 16, 32]);
  assert.deepEqual(surroundings(whole, [[10, 20, 0, 0], [14, 20, 0, 0]], 5), [2, 22, 10, 30]);
  assert.deepEqual(surroundings(whole, [[10, 20, 0, 0]], 0), [5, 15, 15, 25]);
});
