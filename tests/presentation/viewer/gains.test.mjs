import assert from "node:assert/strict";
import { test } from "node:test";

import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { changedTruths, changeMeaning, gainsText } from "../../../spotgeo_frames/presentation/viewer/assets/gains.js";
import { FOUND, IGNORED, MISSED } from "../../../spotgeo_frames/presentation/viewer/assets/marks.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { nextEvent } from "../../../spotgeo_frames/presentation/viewer/assets/steps.js";
import { tracks } from "./packed.mjs";

const opened = (change = () => {}) => {
  const { about, buffer } = tracks();
  const view = readView(about, buffer);
  change(view);
  return sourceOf(view);
};
const rows = (...marks) => ({ present: true, truth: { first: 10, n: marks.length }, truthMarks: Uint8Array.from(marks) });
const always = () => true;

test("what only the second finds is gained, and what only the first finds is lost", () => {
  const source = opened();
  const changedIn = (frame, ...submissions) => [...changedTruths(submissions.map((one) => source.rows(frame, one)))];
  assert.deepEqual([0, 1, 2].map((frame) => changedIn(frame, 0, 1)), [[[1, "gained"]], [[2, "gained"], [3, "gained"]], [[5, "gained"]]]);
  assert.deepEqual(changedIn(1, 1, 0), [[2, "lost"], [3, "lost"]]);
  assert.deepEqual(changedIn(1, 0), []);
  assert.deepEqual(changedIn(1, 0, 1, 1), [], "of three nobody knows which is compared with which");
  assert.deepEqual(changedIn(3, 0, 1), [], "the second does not have the frame");
});

test("what is ignored changes nothing", () => {
  const ignored = { name: "ignored", codes: Int32Array.of(-1, -1, 0, -1, -1, -1), values: ["True"] };
  const source = opened(({ truth }) => truth.columns.set("ignored", ignored));
  assert.deepEqual([...changedTruths([source.rows(1, 0), source.rows(1, 1)])], [[3, "gained"]]);
  assert.deepEqual(source.gains(0, 0, 1)[1], { gained: 1, lost: 0 });
  assert.equal(changedTruths([rows(IGNORED, IGNORED), rows(FOUND, MISSED)]).size, 0);
});

test("the gains of a sequence, in either direction", () => {
  const source = opened();
  assert.deepEqual(source.gains(0, 0, 1), [1, 2, 1].map((gained) => ({ gained, lost: 0 })));
  assert.deepEqual(source.gains(0, 1, 0), [1, 2, 1].map((lost) => ({ gained: 0, lost })));
  assert.deepEqual(source.gains(1, 0, 1), [null]);
});

test("changes are told in words", () => {
  const [found, missed] = [rows(FOUND, FOUND, MISSED), rows(MISSED, MISSED, FOUND)];
  const told = (...shown) => gainsText(shown, ["A", "B"]);
  assert.equal(told(found, missed), "B gains 1 and loses 2 against A");
  assert.equal(told(rows(MISSED, FOUND), rows(FOUND, FOUND)), "B gains 1 against A");
  assert.equal(told(rows(FOUND, FOUND), rows(FOUND, MISSED)), "B loses 1 against A");
  assert.equal(told(found, found), "the same truths are found");
  assert.equal(told(rows(FOUND), rows(FOUND)), "", "the counts tell that all are found");
  assert.equal(told(rows(MISSED), rows(MISSED)), "");
  assert.equal(told(rows(), rows()), "");
  assert.equal(told(found), "");
  assert.equal(told(found, { ...missed, present: false }), "");
  assert.equal(changeMeaning("gained", ["A", "B"]), "found by B, missed by A");
  assert.equal(changeMeaning("lost", ["A", "B"]), "found by A, missed by B");
});

test("steps lead to the next change, in this sequence and in others", async () => {
  const flip = ({ submissions: [, some] }) => some.pairs.columns.set("pair", { name: "pair", numbers: Float64Array.of(0, -1, 1, 0, 0, 1) });
  const source = opened(flip); // in frame 0 nothing changes
  const go = (frame, by, shown = [0, 1]) => nextEvent(source, shown, "change", frame, by, always);
  assert.deepEqual(await Promise.all([go(0, 1), go(1, 1), go(2, 1), go(3, -1), go(1, -1)]), [1, 2, null, 2, null]);
  assert.equal(await go(0, 1, [0]), null);
  const promised = { ...source, gains: async (...asked) => source.gains(...asked) };
  assert.equal(await nextEvent(promised, [1, 0], "change", 0, 1, always), 1);
});
