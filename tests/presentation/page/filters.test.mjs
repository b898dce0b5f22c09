import assert from "node:assert/strict";
import { test } from "node:test";

import { choicesOf, conditionText, framesOfPassing, heldConditions, passingOf, possibleConditions } from "../../../spotgeo_frames/presentation/page/html/assets/filters.js";
import { columnNames } from "../../../spotgeo_frames/presentation/page/html/assets/match_rows.js";
import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { tracks } from "../viewer/packed.mjs";

const opened = () => {
  const { about, buffer } = tracks();
  return readView(about, buffer);
};
const marked = (flags) => [...flags].flatMap((flag, row) => (flag ? [row] : []));
const passes = (...conditions) => {
  const passing = passingOf(opened(), conditions);
  return [marked(passing.truth[0]), marked(passing.predicted[0])];
};

test("without conditions every row passes, and an empty frame is a frame", () => {
  const passing = passingOf(opened(), []);
  assert.deepEqual([passing.passing, passing.all], [[8, 6], [8, 6]]);
  assert.deepEqual([...framesOfPassing(passing, [0])], [0, 1, 2, 3]);
  assert.deepEqual([...framesOfPassing(passing, [1])], [0, 1, 2], "a submission may lack a frame");
});

test("a found truth passes together with its prediction", () => {
  assert.deepEqual(passes({ column: "outcome", is: ["found"] }), [[0, 4], [0, 2]]);
  assert.deepEqual(passes({ column: "truth_object", is: ["1"] }, { column: "frame", is: ["3"] }), [[4], [2]]);
  assert.deepEqual(passes({ column: "outcome", is: ["missed", "false"] }), [[1, 2, 3, 5], [1]]);
  assert.deepEqual(passes({ column: "outcome", is: ["ignored"] }), [[], [3]]);
});

test("kinds and events are those of truths and of predictions", () => {
  assert.deepEqual(passes({ column: "kind", is: ["lost"] }), [[1, 2, 3, 5], []]);
  assert.deepEqual(passes({ column: "kind", is: ["no_truth_in_frame"] }), [[], [1]]);
  assert.deepEqual(passes({ column: "event", is: ["switch"] }), [[4], [2]]);
});

test("of tracks, breaks are kinds to filter by", () => {
  assert.deepEqual(passes({ column: "kind", is: ["switch"] }), [[4], [2]]);
  assert.deepEqual(choicesOf(opened(), "kind").values, ["lost", "no_truth_in_frame", "switch"]);
});

test("counts of a frame leave out what is ignored", () => {
  assert.deepEqual(passes({ column: "frame_n_predicted", is: ["0"] }), [[], [3]]);
});

test("a range holds its ends, and null never passes", () => {
  assert.deepEqual(passes({ column: "distance", from: 1, to: 1.5 }), [[0, 4], [0, 2]]);
  assert.deepEqual(passes({ column: "truth_brightness", from: null, to: 0.5 }), [[0, 1], [0]]);
  assert.deepEqual(passes({ column: "truth_brightness", from: 2, to: null }), [[4, 5], [2]]);
  assert.deepEqual(passes({ column: "predicted_score", from: 0, to: 0.5 }), [[], [1, 3]]);
});

test("a number is the one that a cell shows, but whole numbers are exact", () => {
  assert.deepEqual(passes({ column: "truth_brightness", is: ["0.2500001"] }), [[1], []]);
  assert.deepEqual(passes({ column: "truth_brightness", is: ["0.2501"] }), [[], []]);
  assert.deepEqual(passes({ column: "frame_n_truth", is: ["2"] }, { column: "outcome", is: ["false"] }), [[], [1]]);
});

test("columns of frames and sequences, also with names that objects have", () => {
  assert.deepEqual(passes({ column: "sequence", is: ["constructor"] }), [[], [3]]);
  assert.deepEqual(passes({ column: "frame_clouds", is: ["many"] }), [[4, 5], [2]]);
  assert.deepEqual(passes({ column: "sequence_weather", is: ["rain"] }, { column: "frame", is: ["1"] }), [[0, 1], [0]]);
  assert.deepEqual(passes({ column: "truth___proto__", is: ["<b>"] }), [[0, 2, 4], [0, 2]]);
  assert.deepEqual(passes({ column: "__proto__", is: ["<b>"] }), [[], []]);
});

test("offsets are predicted minus true, and centres those of truths", () => {
  assert.deepEqual(passes({ column: "offset_x", from: 0.5, to: 1.5 }), [[0, 4], [0, 2]]);
  assert.deepEqual(passes({ column: "truth_centre_x", from: 12, to: 14 }), [[2, 4], [2]]);
});

test("what changed is told by the pairs of both submissions", () => {
  const view = opened();
  const change = { column: "change", is: ["all → some: missed → found"] };
  const passing = passingOf(view, [change]);
  assert.deepEqual(passing.truth.map(marked), [[1, 2, 3, 5], [1, 2, 3, 5]]);
  assert.deepEqual(passes({ column: "change", is: ["all → some: found → missed"] }), [[], []]);
  assert.equal(choicesOf(view, "change").values.length, 8);
});

test("every column has choices or a range", () => {
  const view = opened();
  for (const name of columnNames(view)) assert.ok(choicesOf(view, name), name);
  assert.deepEqual(choicesOf(view, "outcome").values, ["found", "missed", "false", "ignored"]);
  assert.deepEqual(choicesOf(view, "predicted_score").most.toFixed(2), "0.90");
  assert.equal(choicesOf(view, "constructor"), null);
});

test("conditions of an address are ignored where they mean nothing here", () => {
  const view = opened();
  const hostile = [null, 7, "outcome", { column: "constructor", is: ["a"] }, { column: "outcome", is: ["<img>"] }, { column: "outcome" },
    { column: "truth_brightness", from: "1" }, { column: "truth_brightness", from: null, to: null }, { column: ["outcome"], is: ["found"] },
    { column: "frame", is: [{}] }, { column: "outcome", from: 1 }];
  assert.deepEqual(possibleConditions(view, hostile), []);
  assert.deepEqual(possibleConditions(view, "nothing"), []);
  assert.deepEqual(possibleConditions(view, [{ column: "outcome", is: ["found", "<img>"] }]), [{ column: "outcome", is: ["found"] }]);
  assert.equal(heldConditions(view, [{ column: "sequence", is: ["elsewhere"] }]), null);
  assert.deepEqual(heldConditions(view, [{ column: "frame", is: ["1,000"] }]), [{ column: "frame", is: ["1000"] }]);
});

test("conditions are told in words", () => {
  assert.equal(conditionText({ column: "kind", is: ["lost", "taken"] }), "kind is lost or taken");
  assert.equal(conditionText({ column: "distance", from: 1, to: 2.5 }), "distance is from 1 to 2.5");
  assert.equal(conditionText({ column: "distance", from: null, to: 2 }), "distance is at most 2");
  assert.equal(conditionText({ column: "distance", from: 0, to: null }), "distance is at least 0");
});
