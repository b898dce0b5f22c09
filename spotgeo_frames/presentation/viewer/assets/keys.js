// The keys of the viewer, which work wherever the focus is within it, but for fields and for what scrolls by itself.

import { ZOOM } from "./controls.js";

/**
 * @typedef {object} KeyActions
 * @property {(by: number) => void} stepFrame
 * @property {(by: number) => void} stepSequence
 * @property {(factor: number) => void} zoom
 * @property {() => void} showWhole shows the whole frame
 */

const HAVE_KEYS = "select, input, .viewer-scroll, .viewer-time-scroll"; // keys of their own

export const KEYS = "← → step through frames, Page Up and Page Down through sequences, + and − zoom, 0 shows the whole frame. " +
  "Ctrl and the mouse wheel zoom, drag moves, a click selects, also in the table and the time line.";

/**
 * @param {HTMLElement} root
 * @param {KeyActions} actions
 */
export function listenToKeys(root, { stepFrame, stepSequence, zoom, showWhole }) {
  const acts = new Map([
    ["ArrowLeft", () => stepFrame(-1)],
    ["ArrowRight", () => stepFrame(1)],
    ["PageUp", () => stepSequence(-1)],
    ["PageDown", () => stepSequence(1)],
    ["+", () => zoom(ZOOM)],
    ["-", () => zoom(1 / ZOOM)],
    ["0", showWhole],
  ]);
  root.addEventListener("keydown", (event) => {
    const within = event.target instanceof Element ? event.target : root;
    const act = acts.get(event.key);
    if (!act || event.ctrlKey || event.altKey || event.metaKey || within.closest(HAVE_KEYS)) return;
    event.preventDefault();
    act();
  });
}
