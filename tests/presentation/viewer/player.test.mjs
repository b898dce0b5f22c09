import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { readView } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { breaksOf } from "../../../spotgeo_frames/presentation/viewer/assets/lives.js";
import { frameAtPlace, makeClock } from "../../../spotgeo_frames/presentation/viewer/assets/player.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";
import { nextEvent } from "../../../spotgeo_frames/presentation/viewer/assets/steps.js";
import { tracks } from "./packed.mjs";

test("a clock steps until there is nothing more, and says when it begins and ends", async () => {
  const told = [];
  let n = 0;
  const clock = makeClock(async () => ++n < 4, () => 1000, (isPlaying) => told.push(isPlaying));
  clock.play();
  clock.play();
  await wait(60);
  assert.deepEqual([n, told, clock.isPlaying()], [4, [true, false], false]);
});

test("a clock that is paused and started again does not step twice as often", async () => {
  let n = 0;
  const clock = makeClock(async () => { n++; return true; }, () => 50, () => {});
  for (let i = 0; i < 5; i++) { clock.play(); clock.pause(); }
  clock.play();
  await wait(5);
  assert.equal(n, 6, "one step of each start");
  await wait(45);
  clock.pause();
  assert.ok(n <= 9, `${n}`);
});

test("a step that fails ends playing", async () => {
  const clock = makeClock(() => Promise.reject(new Error("the kernel is gone")), () => 1000, () => {});
  await assert.rejects(clock.play(), /the kernel is gone/);
  assert.equal(clock.isPlaying(), false);
});

test("a place over the slider is the frame whose mark is nearest", () => {
  assert.deepEqual([-5, 8, 58, 107, 300].map((x) => frameAtPlace(x, 116, 11)), [0, 0, 5, 10, 10]);
});

test("breaks are switches and the first frame of each gap", () => {
  const lives = { event: Uint8Array.of(0, 2, 2, 0, 1, 2), frame: Int32Array.of(0, 1, 2, 3, 4, 1) };
  assert.deepEqual(breaksOf([lives]), [1, 4]);
});

test("the next error is found in this sequence and in those after it", async () => {
  const { about, buffer } = tracks();
  const source = sourceOf(readView(about, buffer));
  const hasError = (frame) => [0].some((one) => { const counts = source.counts(frame, one); return counts && counts.missed + counts.wrong > 0; });
  const errors = Array.from({ length: source.frames.n }, (_, frame) => frame).filter(hasError);
  const go = (frame, by) => nextEvent(source, [0], "error", frame, by, () => true);
  for (const frame of source.frames.sequence.keys()) {
    assert.equal(await go(frame, 1), errors.find((one) => one > frame) ?? null);
    assert.equal(await go(frame, -1), errors.findLast((one) => one < frame) ?? null);
  }
  assert.equal(await nextEvent(source, [0], "error", 0, 1, () => false), null, "a search that nobody wants any more ends");
});
