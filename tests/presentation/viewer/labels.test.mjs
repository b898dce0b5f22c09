import assert from "node:assert/strict";
import { test } from "node:test";

import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { LABEL_HEIGHT, placedLabels } from "../../../spotgeo_frames/presentation/viewer/assets/labels.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { labelText } from "../../../spotgeo_frames/presentation/viewer/assets/texts.js";
import { tracks } from "./packed.mjs";

const SIZE = { width: 400, height: 300 };
const widthOf = (text) => 6 * text.length;
const wanted = (text, rank, x, y, above = true) => ({ label: { text, rank }, left: x, top: y, right: x + 20, bottom: y + 20, above, color: "" });
const areOver = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < LABEL_HEIGHT;

test("labels of a crowded frame do not cover each other, and stay within the canvas", () => {
  const every = Array.from({ length: 200 }, (_, i) => wanted(`car 0.${i}`, 3, (i * 37) % 400, (i * 53) % 300, i % 2 === 0));
  const placed = placedLabels(every, SIZE, widthOf);
  assert.ok(placed.length > 20 && placed.length < 200);
  placed.forEach((one, i) => placed.slice(i + 1).forEach((other) => assert.equal(areOver(one, other), false)));
  assert.ok(placed.every(({ x, y, width }) => x >= 0 && x + width <= SIZE.width && y <= SIZE.height && y >= LABEL_HEIGHT));
});

test("what matters more has a label first, and what is pointed at in any case", () => {
  const here = (text, rank) => wanted(text, rank, 100, 100);
  const all = [here("a", 3), here("b", 3), here("c", 3), here("d", 3), here("missed", 2)];
  const texts = placedLabels(all, SIZE, () => 60).map((one) => one.wanted.label.text);
  assert.deepEqual(texts, ["missed", "a", "b"], "above, below and beside there is room for three");
  const pointed = placedLabels([...all, here("me", 0), here("also me", 0), here("me, too", 0), here("me as well", 0)], SIZE, () => 60);
  assert.equal(pointed.filter((one) => one.wanted.label.rank === 0).length, 4);
});

test("a label beyond the edge is moved into the canvas, and one of what is out of sight is left out", () => {
  const [one] = placedLabels([wanted("car", 1, 100, 2)], SIZE, widthOf);
  assert.equal(one.y, LABEL_HEIGHT);
  assert.deepEqual(placedLabels([wanted("gone", 1, 100, -50)], SIZE, widthOf), []);
});

test("a found truth has a label only where it is pointed at", () => {
  const { about, buffer } = tracks();
  const source = sourceOf(readView(about, buffer));
  const rows = source.rows(0, 0);
  const found = rows.pair.findIndex((pair) => pair >= 0);
  assert.equal(labelText(rows, "truth", rows.truth.first + found, source.about, false), "");
  assert.match(labelText(rows, "truth", rows.truth.first + found, source.about, true), /^#\d+.*, .* \d/);
  assert.match(labelText(rows, "predicted", rows.predicted.first + rows.pair[found], source.about, false), /^#\d+/);
});
