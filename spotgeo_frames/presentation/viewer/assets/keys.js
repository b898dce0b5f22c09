// The keys of the viewer, which work wherever the focus is within it, but for fields and for what scrolls by itself.

import { ZOOM } from "./controls.js";

/**
 * @typedef {object} KeyActions
 * @property {(by: number) => void} stepFrame
 * @property {(by: number) => void} stepSequence
 * @property {(factor: number) => void} zoom
 * @property {() => void} showWhole shows the whole frame
 * @property {() => void} playOrPause
 * @property {(by: number) => void} toError
 * @property {(by: number) => void} toBreak
 * @property {(by: number) => void} toChange
 */

const HAVE_KEYS = "select, input, .viewer-scroll, .viewer-time-scroll"; // keys of their own

const PRESSED_BY_SPACE = "button, a, summary";

/**
 * What keys and the mouse do, in words.
 * @param {boolean} identities whether tracks can break
 * @param {boolean} several whether there are submissions to compare
 */
export function keysText(identities, several) {
  const toBreak = identities ? ", b to the next break of a track" : "";
  const toChange = several ? ", c to the next frame where the submissions differ, which has a diamond above the slider" : "";
  return `Space plays, ← → step through frames, Page Up and Page Down through sequences, n goes to the next frame with an error${toBreak}${toChange} ` +
    "(with Shift to the one before), + and − zoom, 0 shows the whole frame. Ctrl and the mouse wheel zoom, drag moves, a click selects, " +
    "also in the table and the time line.";
}

/**
 * @param {HTMLElement} root
 * @param {KeyActions} actions
 */
export function listenToKeys(root, { stepFrame, stepSequence, zoom, showWhole, playOrPause, toError, toBreak, toChange }) {
  const acts = new Map([
    ["ArrowLeft", () => stepFrame(-1)],
    ["ArrowRight", () => stepFrame(1)],
    ["PageUp", () => stepSequence(-1)],
    ["PageDown", () => stepSequence(1)],
    ["+", () => zoom(ZOOM)],
    ["-", () => zoom(1 / ZOOM)],
    ["0", showWhole],
    [" ", playOrPause],
    ["n", () => toError(1)],
    ["N", () => toError(-1)],
    ["b", () => toBreak(1)],
    ["B", () => toBreak(-1)],
    ["c", () => toChange(1)],
    ["C", () => toChange(-1)],
  ]);
  root.addEventListener("keydown", (event) => {
    const within = event.target instanceof Element ? event.target : root;
    const act = acts.get(event.key);
    if (!act || event.ctrlKey || event.altKey || event.metaKey || within.closest(HAVE_KEYS)) return;
    if (event.key === " " && within.closest(PRESSED_BY_SPACE)) return;
    event.preventDefault();
    act();
  });
}
