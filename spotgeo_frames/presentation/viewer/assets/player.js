// Plays the frames of a sequence and leads to any of them: buttons, the speed, and a slider below marks of the errors.

import { sharp } from "./draw.js";
import { enable, make, makeButton, makeSelect } from "./elements.js";
import { FALSE, MISSED } from "./marks.js";
import { addLine } from "./strokes.js";

/**
 * @import { Counts } from "./lives.js"
 * @import { Palette } from "./palette.js"
 *
 * @typedef {object} Reel a sequence, whose frames are counted from its first
 * @property {(Counts | null)[][]} tallies what each shown submission has in each frame
 * @property {number[]} breaks the frames in which a track breaks, in ascending order
 * @property {number[] | null} changes the frames with a change between submissions, in ascending order; null unless two are shown
 * @property {boolean} hasOthers whether there are other sequences, where a change may be, too
 * @property {number} frame the current one
 * @property {string} title of the current frame
 * @property {Palette} palette
 *
 * @typedef {object} PlayerActions
 * @property {() => void} playOrPause
 * @property {(by: number) => void} toError
 * @property {(by: number) => void} toBreak
 * @property {(by: number) => void} toChange
 * @property {(frame: number) => void} toFrame counted from the first of the sequence
 *
 * @typedef {object} Player
 * @property {HTMLElement} element
 * @property {(reel: Reel) => void} show
 * @property {(isPlaying: boolean) => void} showPlaying
 * @property {() => number} speed in frames a second
 *
 * @typedef {{isPlaying: () => boolean, play: () => Promise<void>, pause: () => void}} Clock
 */

const SPEEDS = [1, 2, 5, 10, 25, 60];
const USUAL_SPEED = 10;
const THUMB = 16; // CSS px across, as the style sheet has it: the slider's ends are half of it within its element
const TRIANGLE = 4; // CSS px, also of half a diamond

/**
 * Calls `step` so many times a second, until it is paused or `step` answers that there is nothing more.
 * @param {() => Promise<boolean>} step
 * @param {() => number} speed times a second
 * @param {(isPlaying: boolean) => void} told after each change
 * @returns {Clock}
 */
export function makeClock(step, speed, told) {
  let isPlaying = false;
  let run = 0; // which one goes on, so that one that was paused and started again does not step twice
  function pause() {
    if (!isPlaying) return;
    isPlaying = false;
    run++;
    told(false);
  }
  async function goOn() {
    const mine = run;
    try {
      let due = Date.now();
      while (mine === run) {
        const goes = await step();
        if (mine === run && !goes) pause();
        // Times count from when a frame was due, so that late timers do not slow the film; what cannot keep up is not hurried.
        due = Math.max(due + 1000 / speed(), Date.now());
        if (mine === run) await new Promise((done) => { setTimeout(done, due - Date.now()); });
      }
    } finally {
      if (mine === run) pause(); // a step failed, as play() then does
    }
  }
  return {
    isPlaying: () => isPlaying,
    async play() {
      if (isPlaying) return;
      isPlaying = true;
      run++;
      told(true);
      await goOn();
    },
    pause,
  };
}

/**
 * @param {boolean} identities whether tracks can break
 * @param {PlayerActions} actions
 * @returns {Player}
 */
export function makePlayer(identities, actions) {
  const element = make("div", "viewer-player");
  const play = makeButton("Play", actions.playOrPause);
  const rate = makeSelect("Frames a second", SPEEDS.map(String), () => {});
  rate.select.selectedIndex = SPEEDS.indexOf(USUAL_SPEED);
  const [nextError, nextBreak] = [makeButton("Next error", () => actions.toError(1)), makeButton("Next break", () => actions.toBreak(1))];
  const nextChange = makeButton("Next change", () => actions.toChange(1));
  const [scrubber, canvas, slider] = [make("div", "viewer-scrubber"), make("canvas"), make("input")];
  canvas.setAttribute("role", "img");
  slider.type = "range";
  slider.min = "0";
  slider.setAttribute("aria-label", "Frame of the sequence");
  slider.addEventListener("input", () => actions.toFrame(Number(slider.value)));
  scrubber.append(canvas, slider);
  element.append(play, rate.label, nextError, nextBreak, nextChange, scrubber);
  /** @type {Reel | null} */
  let shown = null;
  canvas.addEventListener("click", ({ offsetX }) => {
    if (shown) actions.toFrame(frameAtPlace(offsetX, canvas.clientWidth, lengthOf(shown)));
  });
  return {
    element,
    show(reel) {
      const n = lengthOf(reel);
      shown = reel;
      element.hidden = n < 2 && !reel.changes;
      for (const one of [play, rate.label, nextError, scrubber]) one.hidden = n < 2;
      nextBreak.hidden = n < 2 || !identities;
      slider.max = String(n - 1);
      slider.value = String(reel.frame);
      slider.setAttribute("aria-valuetext", reel.title);
      const nErrors = Array.from({ length: n }, (_, frame) => errorsAt(reel, frame)).filter(({ missed, wrong }) => missed + wrong).length;
      const changes = reel.changes ? `, ${reel.changes.length} a change` : "";
      canvas.setAttribute("aria-label", `Errors by frame: ${nErrors} of ${n} frames have some${changes}`);
      nextChange.hidden = !reel.changes;
      enable(nextChange, reel.changes?.length !== 0 || reel.hasOthers);
      enable(nextBreak, reel.breaks.length > 0);
      enable(nextError, nErrors > 0);
      if (n > 1) drawErrors(sharp(canvas, { width: canvas.clientWidth, height: canvas.clientHeight }), canvas, reel);
    },
    showPlaying(isPlaying) {
      play.textContent = isPlaying ? "Pause" : "Play";
    },
    speed: () => SPEEDS[rate.select.selectedIndex],
  };
}

/** @param {Reel} reel */
function lengthOf({ tallies }) {
  return tallies[0].length;
}

/**
 * The errors of all shown submissions in a frame.
 * @param {Reel} reel
 * @param {number} frame
 */
function errorsAt({ tallies }, frame) {
  let [missed, wrong] = [0, 0];
  for (const tally of tallies) {
    missed += tally[frame]?.missed ?? 0;
    wrong += tally[frame]?.wrong ?? 0;
  }
  return { missed, wrong };
}

/**
 * The frame whose mark is nearest to a place of the canvas.
 * @param {number} x
 * @param {number} width
 * @param {number} n
 */
export function frameAtPlace(x, width, n) {
  const along = (x - THUMB / 2) / Math.max(width - THUMB, 1);
  return Math.max(0, Math.min(n - 1, Math.round(along * (n - 1))));
}

/**
 * Draws a bar for each frame, misses upwards and false alarms downwards, a triangle above where a track breaks, and a
 * diamond below where submissions differ.
 * @param {CanvasRenderingContext2D} context
 * @param {{clientWidth: number, clientHeight: number}} size
 * @param {Reel} reel
 */
function drawErrors(context, { clientWidth: width, clientHeight }, reel) {
  const n = lengthOf(reel);
  const room = width - THUMB;
  const height = clientHeight - (reel.changes ? 2 * TRIANGLE : 0);
  const middle = TRIANGLE + (height - TRIANGLE) / 2;
  const errors = Array.from({ length: n }, (_, frame) => errorsAt(reel, frame));
  const most = errors.reduce((greatest, { missed, wrong }) => Math.max(greatest, missed, wrong), 1);
  const left = (/** @type {number} */ frame) => THUMB / 2 + (room * frame) / (n - 1);
  const across = Math.max(1, Math.min(8, (0.7 * room) / n));
  const tall = (/** @type {number} */ count) => (count ? Math.max(2, ((height - TRIANGLE) / 2) * (count / most)) : 0);
  context.clearRect(0, 0, width, clientHeight);
  errors.forEach(({ missed, wrong }, frame) => {
    context.fillStyle = reel.palette.marks[MISSED];
    context.fillRect(left(frame) - across / 2, middle - tall(missed), across, tall(missed));
    context.fillStyle = reel.palette.marks[FALSE];
    context.fillRect(left(frame) - across / 2, middle, across, tall(wrong));
  });
  context.fillStyle = reel.palette.ink;
  const symbols = new Path2D();
  for (const x of reel.breaks.map(left)) addLine(symbols, [[x - TRIANGLE, 0], [x + TRIANGLE, 0], [x, TRIANGLE + 1]]);
  for (const x of (reel.changes ?? []).map(left)) {
    addLine(symbols, [[x - TRIANGLE, height + TRIANGLE], [x, height], [x + TRIANGLE, height + TRIANGLE], [x, clientHeight]]);
  }
  context.fill(symbols);
}
