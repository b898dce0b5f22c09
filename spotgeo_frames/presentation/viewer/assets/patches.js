// Patches: a grid of small pictures of single rows, each object with what lies around it.

import { drawPatch } from "./draw.js";
import { asksForMore, make } from "./elements.js";
import { keyOfObject } from "./state.js";
import { frameName, rowText } from "./texts.js";

/**
 * @import { Passes } from "./draw.js"
 * @import { Source } from "./source.js"
 * @import { Selected } from "./state.js"
 *
 * @typedef {{frame: number, object: Selected}} Patch a row, by its frame and by one of its objects
 *
 * @typedef {object} Patches
 * @property {HTMLElement} element
 * @property {(patches: Patch[], passes: Passes | null) => void} show
 * @property {(keys: Set<string>) => void} mark shows which patches are of marked objects, by their keys
 */

/** How many patches there are at first, how many more are asked for, and how many there are at most. */
export const PATCHES_AT_ONCE = 12;
export const MOST_PATCHES = 120;

/** By what patches are sorted where there are scores, and what the order without any column is called. */
export const SCORE_COLUMN = "predicted_score";
export const FRAME_ORDER = "frame order";

/**
 * @param {Source} source
 * @param {(patch: Patch, more: boolean) => void} pick `more` with Shift or Ctrl
 * @returns {Patches}
 */
export function makePatches(source, pick) {
  const element = make("ul", "viewer viewer-grid viewer-patches");
  /** @type {{patch: Patch, button: HTMLButtonElement, canvas: HTMLCanvasElement, text: HTMLElement, name: HTMLElement}[]} */
  let items = [];
  /** @type {Passes | null} */
  let passing = null;
  let isNear = false; // to what the reader sees; before, there are texts alone
  let round = 0; // of drawing; a later one ends those before it

  // One patch after another, so that few pictures are in memory at a time.
  async function draw() {
    const own = ++round;
    for (const { patch: { frame, object }, canvas, text, name } of items) {
      const rows = await source.rows(frame, object.submission);
      if (own !== round) return;
      text.textContent = rowText(rows, object, source.about);
      name.textContent = frameName(source, frame);
      if (isNear) await drawPatch(canvas, source, rows, object, passing);
    }
  }

  new IntersectionObserver((seen) => {
    if (isNear || !seen.some(({ isIntersecting }) => isIntersecting)) return;
    isNear = true;
    draw();
  }, { rootMargin: "50%" }).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return {
    element,
    show(patches, passes) {
      passing = passes;
      items = patches.map((patch) => itemOf(patch, pick));
      element.replaceChildren(...items.map(({ button }) => {
        const item = make("li");
        item.append(button);
        return item;
      }));
      draw();
    },
    mark(keys) {
      for (const { patch, button } of items) button.setAttribute("aria-pressed", String(keys.has(keyOfObject(patch.object))));
    },
  };
}

/**
 * @param {Patch} patch
 * @param {(patch: Patch, more: boolean) => void} pick
 */
function itemOf(patch, pick) {
  const [button, canvas, text, name] = [make("button"), make("canvas", "viewer-patch"), make("strong"), make("span")];
  button.type = "button";
  button.addEventListener("click", (event) => pick(patch, asksForMore(event)));
  canvas.setAttribute("aria-hidden", "true"); // the button's text tells what it shows
  button.append(canvas, text, name);
  return { patch, button, canvas, text, name };
}
