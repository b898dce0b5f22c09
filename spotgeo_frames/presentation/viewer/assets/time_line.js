// The time line of a submission in its element: scrolls where there are many objects, and is clicked to jump.

import { sharp } from "./draw.js";
import { make } from "./elements.js";
import { cellAtPlace, drawLives, LABELS, MOST_ROWS, ROW_HEIGHT } from "./life_bars.js";
import { cellText } from "./lives.js";

/**
 * @import { Lives } from "./lives.js"
 * @import { TimeLook } from "./life_bars.js"
 *
 * @typedef {object} Times what a time line shows
 * @property {string} title
 * @property {Lives} lives
 * @property {TimeLook} look
 * @property {number} frame the current one, counted from the sequence's first
 * @property {number} object the selected one, -1 for none
 *
 * @typedef {object} TimeLine
 * @property {HTMLElement} element
 * @property {(shown: Times) => void} show
 */

/**
 * @param {(object: number, frame: number) => void} jump to a frame, counted from the sequence's first
 * @returns {TimeLine}
 */
export function makeTimeLine(jump) {
  const element = make("figure", "viewer-time");
  const [caption, scroll, inner] = [make("figcaption"), make("div", "viewer-time-scroll"), make("div", "viewer-time-rows")];
  const [canvas, column, line] = [make("canvas"), make("div", "viewer-time-frame"), make("div", "viewer-time-object")];
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  canvas.setAttribute("role", "img");
  inner.append(canvas, column, line);
  scroll.append(inner);
  element.append(caption, scroll);
  /** @type {{lives: Lives, look: TimeLook, object: number} | null} */
  let shown = null;
  let drawn = "";

  // Draws the bars again only where they change: a step moves but the frame around the current column.
  function draw(again = false) {
    if (!shown || !scroll.clientWidth) return;
    const size = { width: scroll.clientWidth, height: scroll.clientHeight };
    const { palette, byIdentity } = shown.look;
    const key = JSON.stringify([size, scroll.scrollTop, window.devicePixelRatio, palette, byIdentity]);
    if (!again && key === drawn) return;
    drawn = key;
    drawLives(sharp(canvas, size), size, shown.lives, scroll.scrollTop, shown.look);
  }

  const cellUnder = (/** @type {MouseEvent} */ event) =>
    shown && cellAtPlace(shown.lives, shown.look.nFrames, canvas.clientWidth, event.offsetX, event.offsetY + scroll.scrollTop);
  scroll.addEventListener("scroll", () => draw());
  canvas.addEventListener("click", (event) => {
    const cell = cellUnder(event);
    if (cell) jump(cell.object, cell.frame);
  });
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellUnder(event);
    canvas.title = cell && shown ? cellText(shown.lives, cell.object, cell.frame) : "";
  });
  return {
    element,
    show({ title, lives, look, frame, object }) {
      const n = lives.objects.length;
      const again = shown?.lives !== lives || shown.look.passes !== look.passes;
      const other = again || shown?.object !== object;
      shown = { lives, look, object };
      caption.textContent = title;
      scroll.setAttribute("aria-label", title);
      canvas.setAttribute("aria-label", `${title}: ${n} ${n === 1 ? "row" : "rows"}, ${look.nFrames} frames`);
      element.hidden = look.nFrames < 2 || !n;
      scroll.style.height = canvas.style.height = `${Math.min(n, MOST_ROWS) * ROW_HEIGHT}px`;
      inner.style.height = `${n * ROW_HEIGHT}px`;
      column.style.left = `calc(${LABELS}px + (100% - ${LABELS}px) * ${frame / look.nFrames})`;
      column.style.width = `calc((100% - ${LABELS}px) / ${look.nFrames})`;
      line.hidden = object < 0;
      line.style.top = `${object * ROW_HEIGHT}px`;
      line.style.height = `${ROW_HEIGHT}px`;
      if (other) bring(scroll, object);
      draw(again);
    },
  };
}

/**
 * Scrolls the row of an object into view, unless it is there.
 * @param {HTMLElement} scroll
 * @param {number} object -1 for none
 */
function bring(scroll, object) {
  const top = object * ROW_HEIGHT;
  const inView = top >= scroll.scrollTop && top + ROW_HEIGHT <= scroll.scrollTop + scroll.clientHeight;
  if (object >= 0 && !inView) scroll.scrollTop = top - scroll.clientHeight / 2;
}
