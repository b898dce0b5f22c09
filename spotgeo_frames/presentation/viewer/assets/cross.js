// One cursor for panels beside each other: a cross in each panel but that of the pointer, at the same place of the image.

import { make } from "./elements.js";

/**
 * @import { Camera, Size } from "./geometry.js"
 *
 * @typedef {{x: number, y: number}} Place of the image, px
 *
 * @typedef {object} Pointed what can be under the pointer, and can show what is under it elsewhere
 * @property {() => Place | null} pointed null while the pointer is elsewhere
 * @property {(place: Place | null) => void} showCross
 */

/**
 * An element of its own, so that a move of the pointer draws nothing anew, and that lets the pointer through.
 * @returns {{element: HTMLElement, moveTo: (place: Place | null, camera: Camera | null, size: Size) => void}}
 */
export function makeCross() {
  const element = make("div", "viewer-cross");
  element.setAttribute("aria-hidden", "true"); // only a pointer moves it
  element.hidden = true;
  return {
    element,
    moveTo(place, camera, { width, height }) {
      element.hidden = !place || !camera;
      if (!place || !camera) return;
      const [x, y] = [(place.x - camera.x) * camera.scale + width / 2, (place.y - camera.y) * camera.scale + height / 2];
      element.style.transform = `translate(${x}px, ${y}px)`;
    },
  };
}

/**
 * @param {Pointed[]} shown beside each other
 */
export function showCrosses(shown) {
  const under = shown.find((one) => one.pointed());
  const place = under?.pointed() ?? null;
  for (const one of shown) one.showCross(one === under ? null : place);
}
