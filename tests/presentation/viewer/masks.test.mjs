import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest } from "../../../spotgeo_frames/presentation/viewer/assets/geometry.js";
import { maskAt, nearnessOf, ringsOf } from "../../../spotgeo_frames/presentation/viewer/assets/masks.js";

/** COCO's compressed text of the counts of pixels outside and inside in turn, down the columns. */
function encoded(counts) {
  let text = "";
  counts.forEach((count, i) => {
    let [value, more] = [i > 2 ? count - counts[i - 2] : count, true];
    while (more) {
      const digit = value & 31;
      value >>= 5;
      more = value !== (digit & 16 ? -1 : 0);
      text += String.fromCharCode(48 + (more ? digit | 32 : digit));
    }
  });
  return text;
}

const maskOf = (text, height, width) => ({ text: Uint8Array.from(text, (letter) => letter.charCodeAt(0)), height, width, rings: null });

/** The mask of rows of pixels, which are inside where there is a #. */
function drawn(...rows) {
  const pixels = [...rows[0]].flatMap((_, x) => rows.map((row) => row[x] === "#"));
  const counts = [0];
  pixels.forEach((inside) => {
    if (inside === Boolean((counts.length - 1) % 2)) counts[counts.length - 1]++;
    else counts.push(1);
  });
  return maskOf(encoded(counts), rows.length, rows[0].length);
}

/** The pixels of an image whose middle is inside, by the lines around the mask. */
function filled(mask) {
  return Array.from({ length: mask.height }, (_, y) =>
    Array.from({ length: mask.width }, (_, x) => (nearnessOf(mask, x + 0.5, y + 0.5).inside ? "#" : ".")).join(""));
}

const PICTURES = {
  corner: [["#...", "#...", "####"], 1],
  hole: [["####", "#..#", "####"], 2],
  diagonal: [["#..", ".#.", "..#"], 3],
  "diagonal hole": [["####", "#.##", "##.#", "####"], 2],
  apart: [["#.#", "#.#"], 2],
  columns: [["...", ".##", ".##"], 1],
  all: [["###", "###"], 1],
  "foot and head": [[".#", ".#", "#."], 2],
};

for (const [name, [rows, nRings]] of Object.entries(PICTURES)) {
  test(`lines lead around all pixels, and no others: ${name}`, () => {
    const mask = drawn(...rows);
    assert.deepEqual(filled(mask), rows);
    assert.equal(ringsOf(mask).length, nRings);
    for (const ring of ringsOf(mask)) {
      for (let i = 0; i < ring.length; i += 2) {
        const [dx, dy] = [0, 1].map((axis) => ring[(i + 2 + axis) % ring.length] - ring[i + axis]);
        assert.equal((dx === 0) !== (dy === 0), true, "each edge is upright or level");
      }
    }
  });
}

test("a line has the corners where it turns, clockwise", () => {
  assert.deepEqual(ringsOf(drawn("....", ".##.", ".##.")), [[1, 3, 1, 1, 3, 1, 3, 3]]);
});

test("random pixels are filled as they are", () => {
  let seed = 7;
  const random = () => { seed = (seed * 48271) % (2 ** 31 - 1); return seed / 2 ** 31; };
  for (let i = 0; i < 50; i++) {
    const [height, width] = [1 + Math.floor(9 * random()), 1 + Math.floor(9 * random())];
    const rows = Array.from({ length: height }, () => Array.from({ length: width }, () => (random() < 0.5 ? "#" : ".")).join(""));
    assert.deepEqual(filled(drawn(...rows)), rows);
  }
});

test("a count of 0 joins what is before and after it", () => {
  assert.deepEqual(ringsOf(maskOf(encoded([0, 2, 0, 2]), 4, 1)), [[0, 4, 0, 0, 1, 0, 1, 4]]);
});

test("an image may have more pixels than any array", () => {
  assert.deepEqual(ringsOf(maskOf(encoded([0, 2 ** 31 - 1]), 1, 2 ** 31 - 1)), [[0, 1, 0, 0, 2 ** 31 - 1, 0, 2 ** 31 - 1, 1]]);
});

test("what is no mask of its image has no lines", () => {
  const texts = ["", "P", "oooooooooooooooooooo", "ooooooo1", "\x00\xff", "0O", encoded([3, 50]), "12~"];
  for (const text of texts) assert.deepEqual(ringsOf(maskOf(text, 3, 4)), [], JSON.stringify(text));
  for (const size of [NaN, 0, -1, 1.5, Infinity, 2 ** 20]) assert.deepEqual(ringsOf(maskOf(encoded([0, 1]), size, size)), [], String(size));
});

const shape = (name, mask) => ({ name, x: 2, y: 1.5, side: "truth", row: 0, box: [0, 0, 4, 3], angle: 0, mask, joints: null });

test("a mask is meant within it and near its line, but not in the notch of its box", () => {
  const corner = shape("corner", drawn("#...", "#...", "####"));
  assert.equal(nearest([corner], [], 0.5, 0.5, 0.4)?.name, "corner");
  assert.equal(nearest([corner], [], 3.5, 2.5, 0.4)?.name, "corner");
  assert.equal(nearest([corner], [], 1.2, 1, 0.4)?.name, "corner", "near the line");
  assert.equal(nearest([corner], [], 3, 0.5, 0.4), null, "in the notch");
  assert.equal(nearest([shape("box", null)], [], 3, 0.5, 0.4)?.name, "box", "a box has no notch");
});

test("rows have the masks of their texts; null, and what there was no room for, have none", () => {
  const [one, other] = [encoded([0, 2, 2]), encoded([1, 1, 2])];
  const sizes = (name) => [name, { name, numbers: Float64Array.of(2, NaN, 2, 2), decimals: 0 }];
  const table = {
    n: 4,
    columns: new Map([sizes("mask_h"), sizes("mask_w")]),
    masks: { text: maskOf(one + other).text, starts: Int32Array.of(0, 3, 3, 3), lengths: Int32Array.of(3, 0, -1, 3) },
  };
  assert.deepEqual([0, 1, 2, 3].map((row) => maskAt(table, row) && ringsOf(maskAt(table, row))), [[[0, 2, 0, 0, 1, 0, 1, 2]], null, null, [[0, 2, 0, 1, 1, 1, 1, 2]]]);
  assert.equal(maskAt(table, 0), maskAt(table, 0), "each is taken apart once");
  assert.equal(maskAt({ n: 1, columns: new Map() }, 0), null);
});
