// The address of a view: what is shown, as text after `#view?`, and back. Nothing in an address is trusted.

/**
 * @import { Source } from "../../../viewer/assets/source.js"
 * @import { State } from "../../../viewer/assets/state.js"
 * @import { Gallery } from "./gallery.js"
 * @import { PatchOrder } from "./patch_rows.js"
 *
 * @typedef {object} Shown all that an address names
 * @property {Partial<State>} viewer
 * @property {{truth: string, joint: string | null} | null} object the truth to select, by its names
 * @property {unknown} filter conditions, not checked yet
 * @property {Partial<Gallery>} gallery
 * @property {Partial<PatchOrder>} patches
 */

const MARK = "#view?";
const MOST_CHARACTERS = 20_000;

/**
 * The part of an address that names a view.
 * @param {Source} source
 * @param {State} state
 * @param {unknown[]} filter
 * @param {Gallery} gallery
 * @param {PatchOrder} patches
 * @returns {string}
 */
export function addressOf({ about, frames }, state, filter, gallery, patches) {
  const words = new URLSearchParams();
  if (frames.n) {
    words.set("sequence", about.sequences[frames.sequence[state.frame]].name);
    words.set("frame", frames.name[state.frame]);
  }
  for (const submission of state.submissions) words.append("submission", about.submissions[submission]);
  words.set("layout", state.layout);
  words.set("colour", state.colour);
  words.set("trail", String(state.trail));
  if (!state.marks) words.set("marks", "no");
  if (!state.labels) words.set("labels", "no");
  if (state.camera) words.set("zoom", [state.camera.x, state.camera.y, state.camera.scale].map((value) => Number(value.toPrecision(7))).join(" "));
  if (state.selected) words.set("selected", [state.selected.side, state.selected.submission, state.selected.row].join(" "));
  if (filter.length) words.set("filter", JSON.stringify(filter));
  words.set("gallery", [gallery.order, gallery.seed, gallery.shown].join(" "));
  words.set("patches", [patches.shown, patches.rising ? "rising" : "falling", patches.by].join(" "));
  return MARK + words;
}

/**
 * What an address names, as far as it can be read; null where it names no view.
 * @param {Source} source
 * @param {string} hash
 * @returns {Shown | null}
 */
export function shownOf(source, hash) {
  if (!hash.startsWith(MARK) || hash.length > MOST_CHARACTERS) return null;
  const words = new URLSearchParams(hash.slice(MARK.length));
  const [x, y, scale] = numbersIn(words.get("zoom"));
  const [side, submission, row] = (words.get("selected") ?? "").split(" ");
  const [order, seed, shown] = (words.get("gallery") ?? "").split(" ");
  const [nPatches, direction, ...by] = (words.get("patches") ?? "").split(" "); // names of columns may have blanks
  const frame = frameNamed(source, words.get("sequence"), words.get("frame"));
  return {
    viewer: {
      ...(frame === null ? {} : { frame }),
      submissions: submissionsNamed(source, words.getAll("submission")),
      layout: /** @type {State["layout"]} */ (words.get("layout")),
      colour: /** @type {State["colour"]} */ (words.get("colour")),
      trail: Number(words.get("trail") ?? NaN),
      marks: words.get("marks") !== "no",
      labels: words.get("labels") !== "no",
      camera: words.has("zoom") ? { x, y, scale } : null,
      selected: row === undefined ? null : { side: /** @type {"truth" | "predicted"} */ (side), submission: Number(submission), row: Number(row) },
    },
    object: words.has("truth") ? { truth: words.get("truth") ?? "", joint: words.get("joint") } : null,
    filter: readJson(words.get("filter")),
    gallery: { order: /** @type {Gallery["order"]} */ (order), seed: Number(seed), shown: Number(shown) },
    patches: { shown: Number(nPatches), rising: direction === "rising", ...(by.length ? { by: by.join(" ") } : {}) },
  };
}

/**
 * The frame of these names; the first of the sequence where it has no such frame, null where there is no such sequence.
 * @param {Source} source
 * @param {string | null} sequence
 * @param {string | null} frame
 * @returns {number | null}
 */
export function frameNamed({ about, frames }, sequence, frame) {
  const position = about.sequences.findIndex(({ name }) => name === sequence);
  if (position < 0) return null;
  const [first, end] = [frames.first[position], frames.first[position + 1]];
  const named = frames.name.indexOf(frame ?? "", first);
  return named >= 0 && named < end ? named : first;
}

/**
 * @param {Source} source
 * @param {string[]} names
 * @returns {number[]}
 */
export function submissionsNamed({ about }, names) {
  return [...new Set(names.map((name) => about.submissions.indexOf(name)))].filter((position) => position >= 0);
}

/**
 * The conditions that an address names, also those on submissions; none where they cannot be read.
 * @param {string} hash
 * @returns {any[]} not checked yet
 */
export function conditionsOf(hash) {
  const words = new URLSearchParams(hash.startsWith(MARK) ? hash.slice(MARK.length) : "");
  const filter = readJson(words.get("filter"));
  const submissions = words.getAll("submission");
  const named = submissions.length ? [{ column: "submission", is: submissions }] : [];
  return Array.isArray(filter) ? [...named, ...filter] : named;
}

/** @param {string | null} text */
function numbersIn(text) {
  return (text ?? "").split(" ").map((word) => (word ? Number(word) : NaN));
}

/**
 * @param {string | null} text
 * @returns {unknown}
 */
function readJson(text) {
  try {
    return JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
}
