import assert from "node:assert/strict";
import { test } from "node:test";

import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { boxesText, detailsOf } from "../../../spotgeo_frames/presentation/viewer/assets/texts.js";
import { tracks } from "./packed.mjs";

const { about, buffer } = tracks();
const source = sourceOf(readView(about, buffer));

test("what has no partner is told, also in the first frame of all", () => {
  const told = new Map(detailsOf(source.rows(0, 0), "truth", 1, source.about));
  assert.equal(told.get("missed truth"), "2");
  assert.equal(told.has("prediction"), false);
});

test("a frame whose masks are left out says so", () => {
  const rows = (...lengths) => ({ table: { n: 4, columns: new Map(), masks: { lengths: Int32Array.of(0, ...lengths) } }, at: 1, first: 9, n: 2 });
  const none = { table: { n: 0, columns: new Map() }, at: 0, first: 0, n: 0 };
  assert.equal(boxesText([{ truth: rows(5, 0, -1), predicted: none }]), "", "that of the next frame");
  assert.match(boxesText([{ truth: none, predicted: rows(5, -1, 3) }]), /drawn as the boxes around them/);
});
