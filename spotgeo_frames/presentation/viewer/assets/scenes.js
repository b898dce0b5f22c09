// What the panels, the time lines and the status of the viewer show: the answers of its source, coloured, labelled and emphasized.

import { known } from "./columns.js";
import { covering } from "./draw.js";
import { changeMeaning, gainsText, hasChange } from "./gains.js";
import { breaksOf } from "./lives.js";
import { FALSE, MISSED } from "./marks.js";
import { breakText, isSame, keyOfObject, truthOfSelected } from "./state.js";
import { boxesText, counted, detailsOf, labelText, statusText } from "./texts.js";

/**
 * @import { Coloring, Passes } from "./draw.js"
 * @import { Change } from "./gains.js"
 * @import { Shape } from "./geometry.js"
 * @import { Label } from "./labels.js"
 * @import { Palette } from "./palette.js"
 * @import { Scene } from "./panel.js"
 * @import { Reel } from "./player.js"
 * @import { Source } from "./source.js"
 * @import { Answers, Selected, State } from "./state.js"
 * @import { Times } from "./time_line.js"
 *
 * @typedef {object} Display what is shown, and what of it stands out
 * @property {Source} source
 * @property {State} state
 * @property {Answers} answers
 * @property {Passes | null} passes
 * @property {Set<string>} marked keys of objects
 * @property {Shape | null} hovered
 */

/** With more shapes in a frame only those that are pointed at, and breaks of tracks, have labels. */
const CROWDED = 400;

/**
 * What the colours tell.
 * @param {State} state
 * @param {Answers} answers
 * @returns {Coloring}
 */
export function coloringOf(state, answers) {
  if (state.colour === "identity") return "identity";
  return areOverEachOther(state, answers) ? "submission" : "outcome";
}

/**
 * @param {State} state
 * @param {Answers} answers
 */
function areOverEachOther({ layout }, { submissions }) {
  return layout === "over" && submissions.length > 1;
}

/**
 * Whether an object is marked, or the selected one.
 * @param {Display} display
 * @param {Selected} object
 */
export function isChosen({ state, marked }, object) {
  const key = keyOfObject(object);
  return marked.has(key) || (state.selected !== null && keyOfObject(state.selected) === key);
}

/**
 * @param {Display} display
 * @returns {string[]} the names of the shown submissions
 */
function shownNames({ source: { about }, answers }) {
  return answers.submissions.map((submission) => about.submissions[submission]);
}

/**
 * What changes between two shown submissions, as what follows the counts of a frame.
 * @param {Display} display
 */
function changesNote(display) {
  const text = gainsText(display.answers.frames, shownNames(display));
  return text && `; ${text}`;
}

/**
 * What is said of a frame after its counts.
 * @param {Display} display
 * @param {Int32Array | null} visited the frames that pass the filter
 * @returns {string}
 */
export function notesOf(display, visited) {
  const { source, state, answers } = display;
  const lacking = source.about.pictures && !answers.loaded ? " (no picture)" : "";
  const note = changesNote(display) + lacking + (source.note?.(state.frame, state.submissions) ?? "") + boxesText(answers.frames);
  if (!visited) return note;
  const n = visited.length;
  return `${note}; ${n ? counted(n, "frame") : "no frame"} ${n > 1 ? "pass" : "passes"} the filter`;
}

/**
 * The scene of each panel: a panel for each shown submission, or one for all of them.
 * @param {Display} display
 * @param {Palette} palette
 * @returns {Scene[]}
 */
export function scenesOf(display, palette) {
  const { state, answers } = display;
  const places = [...answers.layers.keys()];
  return (areOverEachOther(state, answers) ? [places] : places.map((i) => [i])).map((group) => sceneOf(display, group, palette));
}

/**
 * @param {Display} display
 * @param {number[]} group which of the shown submissions
 * @param {Palette} palette
 * @returns {Scene}
 */
function sceneOf(display, group, palette) {
  const { source, state, answers, passes } = display;
  const { about, frames } = source;
  const submissions = group.map((i) => answers.submissions[i]);
  const coloring = coloringOf(state, answers);
  const emphasis = emphasisOf(display);
  return {
    title: about.submissions.length > 1 ? submissions.map((submission) => about.submissions[submission]).join(", ") : "",
    description: statusText(source, answers.frame, submissions, group.map((i) => answers.counts[i])) + changesNote(display),
    layers: state.marks || !answers.loaded ? group.map((i) => answers.layers[i]) : [],
    loaded: answers.loaded,
    extent: covering(about.sequences[frames.sequence[answers.frame]].extent, answers.loaded?.picture ?? null),
    camera: state.camera,
    look: { about, palette, coloring, passes, labelOf: labelsOf(display, coloring, emphasis), emphasis, changeOf: changesMarked(display) },
    detailsOf: (shape) => {
      const rows = known(answers.frames.find(({ submission }) => submission === shape.submission));
      const [outcome, ...others] = detailsOf(rows, shape.side, shape.row, about);
      return [outcome, ...changeDetails(display, shape), ...others];
    },
  };
}

/**
 * @param {Display} display
 * @returns {(shape: Shape) => "selected" | "hovered" | null}
 */
function emphasisOf({ state: { selected }, marked, hovered }) {
  return (shape) => {
    if (marked.has(keyOfObject(shape)) || (selected && isSame(shape, selected))) return "selected";
    return hovered && isSame(shape, hovered) ? "hovered" : null;
  };
}

/**
 * What became of each truth between two shown submissions; of a prediction, what became of its truth.
 * @param {Display} display
 * @returns {(shape: Shape) => Change | null}
 */
function changesMarked({ answers: { changed, frames } }) {
  return ({ side, submission, row }) => {
    if (!changed.size) return null;
    if (side === "truth") return changed.get(row) ?? null;
    const { truth, predicted, partner } = known(frames.find((one) => one.submission === submission));
    const place = partner[row - predicted.first];
    return place < 0 ? null : changed.get(truth.first + place) ?? null;
  };
}

/**
 * What became of a truth, or of that of a prediction, as a label and a value.
 * @param {Display} display
 * @param {Shape} shape
 * @returns {[label: string, value: string][]}
 */
function changeDetails(display, shape) {
  const change = changesMarked(display)(shape);
  return change ? [[shape.side === "truth" ? change : `${change} truth`, changeMeaning(change, shownNames(display))]] : [];
}

/**
 * What broke the track of a truth, as a label; null where nothing did.
 * @param {Display} display
 * @returns {(shape: Shape) => string | null}
 */
function breaksMarked({ source: { about, frames }, answers: { frame, submissions, lives } }) {
  const places = lives.map(({ objects }) => new Map(objects.map((name, i) => [name, i])));
  return ({ side, name, submission, leads }) => {
    const i = submissions.indexOf(submission);
    const object = about.identities && leads && side === "truth" ? places[i].get(name) : undefined;
    const broken = object === undefined ? null : breakText(lives[i], object, frame - frames.first[frames.sequence[frame]]);
    return broken === null || broken.includes("→") ? broken : `#${name} ${broken}`;
  };
}

/**
 * Which shapes have which label: one that is pointed at, then changes between submissions and breaks of tracks, errors,
 * and all others.
 * @param {Display} display
 * @param {Coloring} coloring
 * @param {(shape: Shape) => string | null} emphasis
 * @returns {(shape: Shape) => Label | null}
 */
function labelsOf(display, coloring, emphasis) {
  const { source: { about }, state, answers } = display;
  const [changeOf, breakOf] = [changesMarked(display), breaksMarked(display)];
  const isCrowded = answers.layers.some(({ shapes }) => shapes.length > CROWDED);
  const isError = (/** @type {Shape} */ { mark }) => mark === MISSED || mark === FALSE;
  const plainText = (/** @type {Shape} */ shape, /** @type {boolean} */ isPointedAt) => {
    if (!isPointedAt && (isCrowded || !shape.leads)) return "";
    const rows = known(answers.frames[answers.submissions.indexOf(shape.submission)]);
    const told = labelText(rows, shape.side, shape.row, about, isPointedAt);
    return told === "" && coloring === "identity" ? shape.name : told;
  };
  return (shape) => {
    const isPointedAt = emphasis(shape) !== null;
    if (!state.labels && !isPointedAt) return null;
    const [change, broken] = [shape.side === "truth" ? changeOf(shape) : null, breakOf(shape)];
    const text = [change, broken ?? plainText(shape, isPointedAt)].filter(Boolean).join(" ");
    return text === "" ? null : { text, rank: isPointedAt ? 0 : change || broken ? 1 : isError(shape) ? 2 : 3 };
  };
}

/**
 * What the time line of each shown submission shows.
 * @param {Display} display
 * @param {Palette} palette
 * @returns {Times[]}
 */
export function timesOf({ source: { about, frames }, state, answers, passes }, palette) {
  const sequence = frames.sequence[answers.frame];
  const [first, end] = [frames.first[sequence], frames.first[sequence + 1]];
  return answers.submissions.map((submission, i) => {
    const lives = answers.lives[i];
    const whose = about.submissions.length > 1 ? `${about.submissions[submission]}, ` : "";
    return {
      title: `Time line: ${whose}sequence ${about.sequences[sequence].name}`,
      lives,
      look: { palette, byIdentity: state.colour === "identity", nFrames: end - first, passes: passes?.truth[submission] ?? null },
      frame: answers.frame - first,
      object: lives.objects.indexOf(truthOfSelected(answers.frames[i], state.selected) ?? ""),
    };
  });
}

/**
 * What the player shows.
 * @param {Display} display
 * @param {Palette} palette
 * @returns {Reel}
 */
export function reelOf({ source: { about, frames }, answers: { frame, lives, tallies, gains } }, palette) {
  const first = frames.first[frames.sequence[frame]];
  const title = `frame ${frames.name[frame]} (${frame - first + 1} of ${tallies[0].length})`;
  const changes = gains && [...gains.keys()].filter((one) => hasChange(gains[one]));
  return { tallies, breaks: about.identities ? breaksOf(lives) : [], changes, hasOthers: about.sequences.length > 1, frame: frame - first, title, palette };
}
