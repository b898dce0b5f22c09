import assert from "node:assert/strict";
import { test } from "node:test";

import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { closer, cornersOf, fitted, nearest, panned, pathsOf, shapesOf, skeletonsOf, stageRatio, zoomed } from "../../../spotgeo_frames/presentation/viewer/assets/geometry.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { tracks } from "./packed.mjs";

const shape = (name, x, y, more = {}) => ({ name, x, y, side: "truth", row: 0, box: null, angle: 0, joints: null, ...more });
const box = (name, x, y, w, h) => shape(name, x + w / 2, y + h / 2, { box: [x, y, w, h] });

test("the whole area fits, whichever way it is long", () => {
  assert.deepEqual(fitted([0, 200, 0, 100], { width: 100, height: 100 }), { x: 100, y: 50, scale: 0.5 });
  assert.deepEqual(fitted([0, 100, 100, 500], { width: 100, height: 100 }), { x: 50, y: 300, scale: 0.25 });
  assert.equal(fitted([5, 5, 5, 5], { width: 100, height: 80 }).scale, 80); // an area without a size
});

test("the stage is as high as the area, within bounds", () => {
  assert.deepEqual([[0, 4, 0, 3], [0, 100, 0, 1], [0, 1, 0, 100], [5, 5, 5, 5]].map(stageRatio), [0.75, 0.45, 1, 1]);
});

test("zooming keeps what is under the pointer in place", () => {
  const place = { x: 30, y: -20 };
  const before = { x: 100, y: 50, scale: 2 };
  const after = zoomed(before, 4, place);
  assert.equal(after.scale, 8);
  assert.equal(after.x + place.x / after.scale, before.x + place.x / before.scale);
  assert.equal(after.y + place.y / after.scale, before.y + place.y / before.scale);
  assert.deepEqual(panned(before, 10, -4), { x: 95, y: 52, scale: 2 });
});

test("the nearest mark within reach is meant", () => {
  const shapes = [shape("far", 0, 0), shape("near", 10, 0)];
  assert.equal(nearest(shapes, [], 8, 0, 5)?.name, "near");
  assert.equal(nearest(shapes, [], 5, 40, 5), null);
});

test("a turned box is where its corners are", () => {
  const turned = { ...box("turned", 0, 40, 100, 20), angle: Math.PI / 2 }; // upright about 50, 50
  assert.deepEqual(cornersOf(turned).map(([x, y]) => [Math.round(x) + 0, Math.round(y) + 0]), [[60, 0], [60, 100], [40, 100], [40, 0]]);
  assert.equal(nearest([turned], [], 50, 5, 1)?.name, "turned");
  assert.equal(nearest([turned], [], 5, 50, 1), null);
});

test("of boxes, the nearest edge is meant, else the smallest one around the pointer", () => {
  const shapes = [box("large", 0, 0, 100, 100), box("small", 40, 40, 40, 40)];
  assert.equal(nearest(shapes, [], 60, 60, 5)?.name, "small");
  assert.equal(nearest(shapes, [], 20, 20, 5)?.name, "large");
  assert.equal(nearest(shapes, [], 42, 60, 5)?.name, "small");
  assert.equal(nearest(shapes, [], 99, 60, 5)?.name, "large");
  assert.equal(nearest(shapes, [], 103, 60, 5)?.name, "large");
  assert.equal(nearest(shapes, [], 110, 60, 5), null);
  assert.equal(nearest([shapes[0], box("other", 70, 40, 40, 40)], [], 99, 60, 5)?.name, "large"); // within both
});

test("a pose is meant near a joint or a bone, wherever its middle is", () => {
  const pose = shape("pose", 500, 500, { joints: [0, 0, 100, 0, NaN, NaN] });
  assert.equal(nearest([pose], [[0, 1], [1, 2]], 50, 3, 5)?.name, "pose");
  assert.equal(nearest([pose], [[1, 2]], 50, 3, 5), null);
  assert.equal(nearest([pose], [], 99, 1, 5)?.name, "pose");
});

test("shapes have the places of their rows, and trails join them", () => {
  const { about, buffer } = tracks();
  const source = sourceOf(readView(about, buffer));
  const frames = [0, 1, 2].map((frame) => shapesOf(source.rows(frame, 0), "truth", source.about));
  assert.deepEqual(frames[1].map(({ name, row, x, y, leads }) => [name, row, x, y, leads]), [["1", 2, 12, 10, true], ["2", 3, 50, 50, true]]);
  assert.deepEqual([...pathsOf(frames)], [["1", [10, 10, 12, 10, 14, 10]], ["2", [50, 50, 50, 50, 50, 50]]]);
});

test("joints of one object make a skeleton", () => {
  const joint = { name: "joint", codes: Int32Array.of(1, 0, 0), values: ["nose", "hip"] };
  const rows = { table: { n: 3, columns: new Map([["joint", joint]]) }, at: 0, first: 7, n: 3 };
  const shapes = [["a", 1], ["a", 2], ["b", 3]].map(([name, x], i) => shape(name, x, 10 * x, { row: 7 + i }));
  const about = { kind: "joints", joints: ["nose", "hip"] };
  assert.deepEqual(skeletonsOf(shapes, rows, about), [
    { side: "truth", joints: [2, 20, 1, 10] },
    { side: "truth", joints: [3, 30, NaN, NaN] },
  ]);
});

test("a thumbnail shows the part of the area that holds the objects, at least half of it", () => {
  const area = [0, 100, 0, 60];
  assert.deepEqual(closer(area, [[10, 20, 0, 0]]), [0, 50, 5, 35], "half of each side, within the area");
  assert.deepEqual(closer(area, [[0, 0, 100, 60]]), area);
  assert.deepEqual(closer(area, [[70, 0, 500, 10]]), [45, 95, 0, 30], "what lies far outside does not count");
  assert.deepEqual(closer(area, []), area);
});
