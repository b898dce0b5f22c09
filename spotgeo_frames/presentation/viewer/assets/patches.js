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

/**
 * @param {Source} source
 * @param {(patch: Patch, more: boolean) => void} pick `more` with Shift or Ctrl
 * @returns {Patches}
 */
export function makePatches(source, pick) {
  const element = make("ul", "viewer viewer-grid viewer-patches");
  /** @type {{patch: Patch, button: HTMLButtonElement, canvas: HTMLCanvasElement, text: HTMLElement}[]} */
  let items = [];
  /** @type {Passes | null} */
  let passing = null;
  let isNear = false; // to what the reader sees; before, nothing is drawn
  let round = 0; // of drawing; a later one ends those before it

  // One patch after another, so that few pictures are in memory at a time. Texts come first: they need no pictures.
  async function draw() {
    const own = ++round;
    for (const { patch: { frame, object }, text } of items) {
      const rows = await source.rows(frame, object.submission);
      if (own !== round) return;
      text.textContent = rowText(rows, object, source.about);
    }
    for (const { patch: { frame, object }, canvas } of isNear ? items : []) {
      await drawPatch(canvas, source, await source.rows(frame, object.submission), object, passing);
      if (own !== round) return;
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
      items = patches.map((patch) => itemOf(source, patch, pick));
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
 * @param {Source} source
 * @param {Patch} patch
 * @param {(patch: Patch, more: boolean) => void} pick
 */
function itemOf(source, patch, pick) {
  const [button, canvas, text] = [make("button"), make("canvas", "viewer-patch"), make("strong")];
  button.type = "button";
  button.addEventListener("click", (event) => pick(patch, asksForMore(event)));
  canvas.setAttribute("aria-hidden", "true"); // the button's text tells what it shows
  button.append(canvas, text, make("span", "", frameName(source, patch.frame)));
  return { patch, button, canvas, text };
}
