import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { inflated, numbersOf, readView, textAt } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { Packer, table, tracks } from "./packed.mjs";

const read = (packer, n, ...columns) => {
  const empty = table(0);
  return readView({ sequences: empty, frames: empty, truth: table(n, ...columns), submissions: [] }, packer.buffer).truth;
};

test("numbers come back with their decimals, and nulls as NaN", () => {
  const packer = new Packer();
  const columns = [packer.integers("x", [1.25, null, -327.67], 2), packer.floats("score", [0.5, null, Infinity])];
  const truth = read(packer, 3, ...columns);
  assert.deepEqual([...numbersOf(truth, "x")], [1.25, NaN, -327.67]);
  assert.deepEqual([...numbersOf(truth, "score")], [0.5, NaN, Infinity]);
  assert.deepEqual([0, 1, 2].map((row) => textAt(truth.columns.get("x"), row)), ["1.25", null, "-327.67"]);
});

test("every form of number is read", () => {
  const forms = { int8: Int8Array, int16: Int16Array, int32: Int32Array, float32: Float32Array, float64: Float64Array };
  for (const [form, Numbers] of Object.entries(forms)) {
    const packer = new Packer();
    packer.put(Int8Array.of(1)); // so that the column begins elsewhere
    const decimals = form.startsWith("int") ? { decimals: 0 } : {};
    const column = { name: "n", form, offset: packer.put(Numbers.of(-100, 0, 101)), ...decimals };
    assert.deepEqual([...numbersOf(read(packer, 3, column), "n")], [-100, 0, 101], form);
  }
});

test("text comes back with nulls, and a column may be called __proto__", () => {
  const packer = new Packer();
  const truth = read(packer, 3, packer.texts("__proto__", ["<b>", null, "constructor"]));
  assert.deepEqual([0, 1, 2].map((row) => textAt(truth.columns.get("__proto__"), row)), ["<b>", null, "constructor"]);
  assert.equal(truth.columns.get("toString"), undefined);
});

test("a column that is not there is null everywhere", () => {
  const { about, buffer } = tracks();
  const { truth } = readView(about, buffer);
  assert.deepEqual([...numbersOf(truth, "w")], Array(6).fill(NaN));
  assert.equal(textAt(truth.columns.get("w"), 0), null);
});

test("bytes are inflated", async () => {
  const bytes = Uint8Array.of(0, 255, 7, 7);
  const buffer = await inflated(deflateSync(bytes).toString("base64"));
  assert.deepEqual([...new Uint8Array(buffer)], [...bytes]);
});
