// A canvas with frames: draws a scene, and tells what was pointed at, clicked, moved and zoomed.

import { makeCross } from "./cross.js";
import { drawFrame, sharp } from "./draw.js";
import { asksForMore, make } from "./elements.js";
import { fitted, nearest, panned, zoomed } from "./geometry.js";

/**
 * @import { Place, Pointed } from "./cross.js"
 * @import { Layer, Look, LoadedPicture } from "./draw.js"
 * @import { Camera, Shape } from "./geometry.js"
 * @import { Extent } from "./source.js"
 *
 * @typedef {object} Scene what a panel shows
 * @property {string} title
 * @property {string} description for those who do not see it
 * @property {Layer[]} layers
 * @property {LoadedPicture | null} loaded the picture
 * @property {Extent} extent the area of the whole frame
 * @property {Camera | null} camera null for the whole frame
 * @property {Look} look
 * @property {(shape: Shape) => [label: string, value: string][]} detailsOf
 *
 * @typedef {object} PanelActions
 * @property {(camera: Camera | null, finished: boolean) => void} move
 * @property {(shape: Shape | null, more: boolean) => void} pick `more` with Shift or Ctrl
 * @property {(shape: Shape | null) => void} hover
 * @property {() => void} point the pointer moved over the panel, or left it
 *
 * @typedef {object} OwnPanel
 * @property {HTMLElement} element
 * @property {(scene: Scene) => void} show
 * @property {(factor: number) => Camera | null} zoomedBy
 *
 * @typedef {OwnPanel & Pointed} Panel
 */

const REACH = 12; // CSS px within which a pointer means a mark
const A_CLICK = 4; // CSS px that a pointer may move during a click
const WHEEL = 0.0022;

/**
 * @param {PanelActions} actions
 * @returns {Panel}
 */
export function makePanel(actions) {
  const element = make("figure", "viewer-panel");
  const caption = make("figcaption");
  const stage = make("div", "viewer-stage");
  const canvas = make("canvas");
  const tip = make("div", "viewer-tip");
  canvas.setAttribute("role", "img");
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the table has what it says
  const cross = makeCross();
  stage.append(canvas, cross.element, tip);
  element.append(caption, stage);
  /** @type {Scene | null} */
  let scene = null;
  /** @type {{x: number, y: number} | null} */
  let pointer = null; // relative to the middle
  const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
  const camera = () => scene && (scene.camera ?? fitted(scene.extent, size()));

  function draw() {
    const seen = camera();
    if (scene && seen) drawFrame(sharp(canvas, size()), size(), seen, scene.loaded, scene.layers, scene.look);
  }

  /** @param {{x: number, y: number}} place relative to the middle @returns {Place | null} */
  function placeInImage(place) {
    const seen = camera();
    return seen && { x: seen.x + place.x / seen.scale, y: seen.y + place.y / seen.scale };
  }

  /** @param {{x: number, y: number}} place relative to the middle */
  function shapeAt(place) {
    const [seen, inImage] = [camera(), placeInImage(place)];
    if (!scene || !seen || !inImage) return null;
    const { x, y } = inImage;
    return nearest(scene.layers.flatMap(({ shapes }) => shapes), scene.look.about.bones, x, y, REACH / seen.scale);
  }

  /** @param {Shape | null} shape @param {{x: number, y: number}} place */
  function hover(shape, place) {
    tip.hidden = !shape;
    if (shape && scene) showTip(tip, scene.detailsOf(shape), place, size());
    actions.hover(shape);
  }

  listen(canvas, {
    camera,
    move: (changed, finished) => { tip.hidden = true; actions.move(changed, finished); },
    pick: (place, more) => actions.pick(shapeAt(place), more),
    hover: (place) => hover(place && shapeAt(place), place ?? { x: 0, y: 0 }),
    point(place) {
      pointer = place;
      actions.point();
    },
  });
  return {
    element,
    show(shown) {
      scene = shown;
      caption.textContent = shown.title;
      caption.hidden = !shown.title;
      canvas.setAttribute("aria-label", shown.description);
      canvas.classList.toggle("viewer-zoomed", shown.camera !== null);
      if (shown.look.palette.rim) stage.dataset.picture = "yes";
      else delete stage.dataset.picture;
      draw();
    },
    zoomedBy(factor) {
      const seen = camera();
      return seen && zoomed(seen, factor, { x: 0, y: 0 });
    },
    pointed: () => pointer && placeInImage(pointer),
    showCross: (place) => cross.moveTo(place, camera(), size()),
  };
}

/**
 * Lists labels and values beside a place, within the canvas.
 * @param {HTMLElement} tip
 * @param {[string, string][]} details
 * @param {{x: number, y: number}} place relative to the middle
 * @param {{width: number, height: number}} size
 */
function showTip(tip, details, place, size) {
  const list = make("dl");
  for (const [label, value] of details) list.append(make("dt", "", label), make("dd", "", value));
  tip.replaceChildren(list);
  const [x, y] = [place.x + size.width / 2, place.y + size.height / 2];
  const left = x + 14 + tip.offsetWidth > size.width ? x - 14 - tip.offsetWidth : x + 14;
  tip.style.left = `${Math.max(0, Math.min(left, size.width - tip.offsetWidth))}px`;
  tip.style.top = `${Math.max(0, Math.min(y + 14, size.height - tip.offsetHeight))}px`;
}

/**
 * Pointers and the wheel: one pointer drags, two zoom, one that does not move clicks.
 * @param {HTMLCanvasElement} canvas
 * @param {object} told
 * @param {() => Camera | null} told.camera
 * @param {(camera: Camera | null, finished: boolean) => void} told.move
 * @param {(place: {x: number, y: number}, more: boolean) => void} told.pick
 * @param {(place: {x: number, y: number} | null) => void} told.hover
 * @param {(place: {x: number, y: number} | null) => void} told.point also while the pointer drags
 */
function listen(canvas, { camera, move, pick, hover, point }) {
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  let moved = false;
  const placeOf = (/** @type {MouseEvent} */ event) => ({
    x: event.offsetX - canvas.clientWidth / 2,
    y: event.offsetY - canvas.clientHeight / 2,
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    moved = pointers.size > 0;
    pointers.set(event.pointerId, placeOf(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const [before, now, seen] = [pointers.get(event.pointerId), placeOf(event), camera()];
    point(now);
    if (!before) return hover(now);
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (!seen || (!moved && Math.hypot(dx, dy) < A_CLICK)) return;
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    moved = true;
    pointers.set(event.pointerId, now);
    move(other ? pinched(seen, before, now, other) : panned(seen, dx, dy), false);
  });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    canvas.addEventListener(name, (event) => {
      const place = pointers.get(event.pointerId);
      if (!place || !pointers.delete(event.pointerId) || pointers.size) return;
      if (moved) move(camera(), true);
      else if (name === "pointerup") pick(place, asksForMore(event));
    });
  }
  canvas.addEventListener("pointerleave", () => {
    point(null);
    hover(null);
  });
  canvas.addEventListener("dblclick", () => move(null, true));
  canvas.addEventListener("wheel", (event) => {
    const seen = camera();
    if (!event.ctrlKey || !seen) return; // without Ctrl the wheel scrolls the page
    event.preventDefault();
    move(zoomed(seen, Math.exp(-event.deltaY * WHEEL), placeOf(event)), true);
  }, { passive: false });
}

/**
 * The camera after one of two fingers moved: it zooms about the other one.
 * @param {Camera} camera
 * @param {{x: number, y: number}} before
 * @param {{x: number, y: number}} now
 * @param {{x: number, y: number}} other
 */
function pinched(camera, before, now, other) {
  const apart = Math.hypot(before.x - other.x, before.y - other.y);
  return apart ? zoomed(camera, Math.hypot(now.x - other.x, now.y - other.y) / apart, other) : camera;
}
