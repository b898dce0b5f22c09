import assert from "node:assert/strict";
import { test } from "node:test";

import { possible } from "../../../spotgeo_frames/presentation/viewer/assets/state.js";
import { nextFrame, nextSequence } from "../../../spotgeo_frames/presentation/viewer/assets/steps.js";

// Three sequences of 2, 3 and 1 frames.
const frames = { n: 6, sequence: Int32Array.of(0, 0, 1, 1, 1, 2), first: Int32Array.of(0, 2, 5, 6), name: [] };

test("steps stay in their sequence", () => {
  assert.deepEqual([0, 1, 2, 4, 5].map((frame) => nextFrame(frames, null, frame, 1)), [1, null, 3, null, null]);
  assert.deepEqual([0, 1, 2, 5].map((frame) => nextFrame(frames, null, frame, -1)), [null, 0, null, null]);
  assert.deepEqual([1, 3, 5].map((frame) => nextSequence(frames, null, frame, 1)), [2, 5, null]);
  assert.deepEqual([1, 3, 5].map((frame) => nextSequence(frames, null, frame, -1)), [null, 0, 2]);
});

test("with a filter, steps visit only what has something", () => {
  const visited = Int32Array.of(1, 3, 4);
  assert.deepEqual([0, 1, 2, 4, 5].map((frame) => nextFrame(frames, visited, frame, 1)), [1, 3, 3, null, null]);
  assert.deepEqual([0, 1, 2, 5].map((frame) => nextFrame(frames, visited, frame, -1)), [null, null, 1, 4]);
  assert.deepEqual([0, 2, 5].map((frame) => nextSequence(frames, visited, frame, 1)), [3, null, null]);
  assert.deepEqual([0, 4, 5].map((frame) => nextSequence(frames, visited, frame, -1)), [null, 1, 3]);
  assert.equal(nextFrame(frames, new Int32Array(0), 2, 1), null);
});

test("changes that cannot be shown are ignored", () => {
  const source = { about: { submissions: ["one", "two"], identities: false }, frames };
  const good = { frame: 5, submissions: [1], layout: "over", colour: "outcome", trail: 0, marks: false, camera: { x: 0, y: 0, scale: 2 }, selected: { side: "truth", submission: 0, row: 3 } };
  assert.deepEqual(possible(good, source), good);
  const bad = { frame: 6, submissions: [1, 1], layout: "under", colour: "identity", trail: 5, marks: 1, camera: { x: 0, y: NaN, scale: 1 }, selected: { side: "both" }, constructor: 1 };
  assert.deepEqual(possible(bad, source), {});
  assert.deepEqual(possible({ frame: 1.5, submissions: [], camera: null, selected: null }, source), { camera: null, selected: null });
});
