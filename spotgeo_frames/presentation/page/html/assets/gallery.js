// The gallery: small pictures of frames, the worst first or drawn at random, that open in the viewer.

import { thumbnail } from "../../../viewer/assets/draw.js";
import { enable, make, makeButton } from "../../../viewer/assets/elements.js";
import { frameName } from "../../../viewer/assets/texts.js";

/**
 * @import { Passes } from "../../../viewer/assets/draw.js"
 * @import { Source } from "../../../viewer/assets/source.js"
 *
 * @typedef {object} Gallery
 * @property {"worst" | "random"} order
 * @property {number} seed of the random sample
 * @property {number} shown how many frames
 *
 * @typedef {object} Asked what the frames of the gallery are chosen from
 * @property {Int32Array} frames
 * @property {(frame: number) => number} weight how bad a frame is
 * @property {number} submission
 * @property {Passes | null} passes
 * @property {(frame: number) => string} tally what was counted in a frame, in words
 * @property {string} description of the frames
 */

const AT_ONCE = 12;
const MOST_THUMBNAILS = 120;
const SEEDS = 2 ** 31;

/**
 * The first frames of an order.
 * @param {Int32Array} frames
 * @param {(frame: number) => number} weight
 * @param {Gallery} gallery
 * @returns {number[]}
 */
export function chosenFrames(frames, weight, { order, seed, shown }) {
  if (order === "random") return sampled(frames, shown, seed);
  return [...frames].sort((a, b) => weight(b) - weight(a) || a - b).slice(0, shown);
}

/**
 * Draws without replacement, the same for the same seed. A longer sample begins with a shorter one.
 * @param {Int32Array} frames
 * @param {number} count
 * @param {number} seed
 * @returns {number[]}
 */
function sampled(frames, count, seed) {
  const left = Int32Array.from(frames);
  const n = Math.min(count, left.length);
  let state = seed >>> 0;
  for (let i = 0; i < n; i++) {
    // The generator mulberry32 by Tommy Ettinger, in the public domain.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const other = i + Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * (left.length - i));
    [left[i], left[other]] = [left[other], left[i]];
  }
  return [...left.subarray(0, n)];
}

/**
 * The part of a gallery's state that can be shown.
 * @param {Partial<Gallery>} gallery
 * @returns {Gallery}
 */
export function possibleGallery({ order, seed, shown }) {
  return {
    order: order === "random" ? "random" : "worst",
    seed: Number.isInteger(seed) && Number(seed) >= 0 && Number(seed) < SEEDS ? Number(seed) : 0,
    shown: Number.isInteger(shown) && Number(shown) >= AT_ONCE ? Math.min(Number(shown), MOST_THUMBNAILS) : AT_ONCE,
  };
}

/**
 * Builds a gallery within an element.
 * @param {HTMLElement} root
 * @param {Source} source
 * @param {{open: (frame: number) => void, change: (change: Partial<Gallery>) => void}} actions
 * @returns {(gallery: Gallery, asked: Asked) => void} shows the gallery
 */
export function makeGallery(root, source, { open, change }) {
  const title = make("h3", "", "Gallery");
  const worst = makeButton("Worst first", () => change({ order: "worst", shown: AT_ONCE }));
  const random = makeButton("Random sample", () => change({ order: "random", seed: Math.floor(Math.random() * SEEDS), shown: AT_ONCE }));
  const status = make("span", "gallery-status");
  const list = make("ul", "gallery viewer viewer-grid");
  const more = makeButton("", () => change({ shown: list.children.length + AT_ONCE }));
  const buttons = make("div", "buttons");
  buttons.append(worst, random, status);
  root.replaceChildren(title, buttons, list, more);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach((draw) => draw()));
  /** @type {(() => void)[]} */
  let drawn = [];
  return (gallery, asked) => {
    worst.setAttribute("aria-pressed", String(gallery.order === "worst"));
    random.setAttribute("aria-pressed", String(gallery.order === "random"));
    const frames = chosenFrames(asked.frames, asked.weight, gallery);
    status.textContent = `${frames.length.toLocaleString("en")} of ${asked.frames.length.toLocaleString("en")} ${asked.description}`;
    const items = frames.map((frame) => thumbnailOf(source, frame, asked, open));
    list.replaceChildren(...items.map(({ item }) => item));
    more.textContent = `${AT_ONCE} more frames`;
    enable(more, frames.length < Math.min(asked.frames.length, MOST_THUMBNAILS));
    drawn = items.map(({ draw }) => draw);
    drawn.forEach((draw) => draw());
  };
}

/**
 * @param {Source} source
 * @param {number} frame
 * @param {Asked} asked
 * @param {(frame: number) => void} open
 */
function thumbnailOf(source, frame, { submission, passes, tally }, open) {
  const [item, button, canvas] = [make("li"), makeButton("", () => open(frame)), make("canvas")];
  canvas.setAttribute("aria-hidden", "true"); // the button's text tells what is in the frame
  button.append(canvas, make("strong", "", frameName(source, frame)), make("span", "", tally(frame)));
  item.append(button);
  return { item, draw: () => { thumbnail(canvas, source, frame, [submission], passes); } };
}
