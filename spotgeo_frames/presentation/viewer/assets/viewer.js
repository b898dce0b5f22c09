// The viewer: builds its parts, keeps what is shown, and shows what a source answers. It knows nothing of its page.

import { known } from "./columns.js";
import { makeControls } from "./controls.js";
import { showCrosses } from "./cross.js";
import { make } from "./elements.js";
import { stageRatio } from "./geometry.js";
import { keysText, listenToKeys } from "./keys.js";
import { showLegend } from "./legend.js";
import { cellOf } from "./lives.js";
import { makeObjectsTable } from "./objects.js";
import { palettesOf } from "./palette.js";
import { makePanel } from "./panel.js";
import { makeClock, makePlayer } from "./player.js";
import { coloringOf, isChosen, notesOf, reelOf, scenesOf, timesOf } from "./scenes.js";
import { answersOf, keyOfObject, possible, selectionIn } from "./state.js";
import { nextEvent, nextFrame, nextSequence } from "./steps.js";
import { statusText } from "./texts.js";
import { makeTimeLine } from "./time_line.js";

/**
 * @import { Passes } from "./draw.js"
 * @import { Camera, Shape } from "./geometry.js"
 * @import { Side } from "./lives.js"
 * @import { Display } from "./scenes.js"
 * @import { Source } from "./source.js"
 * @import { Answers, Followed, Selected, State } from "./state.js"
 * @import { Goal } from "./steps.js"
 *
 * @typedef {object} Viewer
 * @property {() => State} state
 * @property {(change: Partial<State>) => Promise<void>} go
 * @property {(passes: Passes | null, frames: Int32Array | null) => Promise<void>} filter
 * @property {(objects: Selected[]) => void} mark marks objects besides the selected one
 */

const MOST_SHOWN = 2; // submissions, at first
const USUAL_TRAIL = 10; // frames, where no picture shows where objects come from
const TIMES_OF_TRACKS = "In a time line, an object is found where its bar is full, as the identity that is written there, and missed where " +
  "the bar is a thin line at the bottom. A line between two bars is a gap, a triangle a switch of identity.";
const TIMES_OF_COUNTS = "In a time line, bars count the objects of each frame that are found, missed and false.";

/**
 * Builds a viewer within an element. `onChange` is called after each change, by the user or by `go`; `onSelect` after
 * each click at an object or beside all, `more` with Shift or Ctrl.
 * @param {HTMLElement} root
 * @param {Source} source
 * @param {{onChange?: (state: State) => void, onSelect?: (selected: Selected | null, more: boolean) => void}} [told]
 * @returns {Viewer}
 */
export function createViewer(root, source, { onChange = () => {}, onSelect = () => {} } = {}) {
  const { about, frames } = source;
  /** @type {State} */
  let state = {
    frame: 0,
    submissions: [...about.submissions.keys()].slice(0, MOST_SHOWN),
    layout: "beside",
    colour: "outcome",
    trail: isDarkField(about) ? USUAL_TRAIL : 0,
    marks: true,
    labels: true,
    camera: null,
    selected: null,
  };
  /** @type {Followed | null} */
  let followed = null; // the selected object, which is selected again in other frames
  /** @type {Passes | null} */
  let passes = null;
  /** @type {Int32Array | null} */
  let visited = null; // the frames that pass the filter, where steps go
  /** @type {Shape | null} */
  let hovered = null;
  let marked = new Set(); // keys of objects
  /** @type {Answers | null} */
  let answers = null;
  let asked = 0; // how often, so that late answers are known

  let searched = 0; // how often a goal was, so that only the last search goes on

  const toError = (/** @type {number} */ by) => toEvent("error", by);
  const toBreak = (/** @type {number} */ by) => toEvent("break", by);
  const toChange = (/** @type {number} */ by) => toEvent("change", by);
  const parts = buildParts(root, source, {
    change: go, toSequence, stepFrame, stepSequence, zoom, select, move, pick, hover, jump, playOrPause, toError, toBreak, toChange, toFrame, point,
  });
  const clock = makeClock(playOn, parts.player.speed, showPlaying);
  listenToKeys(root, { stepFrame, stepSequence, zoom, showWhole: () => move(null, true), playOrPause, toError, toBreak, toChange });
  new ResizeObserver(redraw).observe(root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  /** @param {Partial<State>} change */
  function go(change) {
    const checked = possible(change, source);
    const frame = checked.frame ?? state.frame;
    if (frames.sequence[frame] !== frames.sequence[state.frame]) state.camera = null;
    state = { ...state, ...checked };
    if ("selected" in checked) followed = null;
    return ask();
  }

  // Asks the source and shows its answers, unless something else was asked meanwhile.
  async function ask() {
    if (!frames.n) return showNothing();
    const ticket = ++asked;
    const answered = await answersOf(source, state);
    if (ticket !== asked) return;
    answers = answered;
    hovered = null;
    ({ selected: state.selected, followed } = selectionIn(answered.frames, state.selected, followed, about.identities));
    showAll(answered);
    if (!clock.isPlaying()) onChange(structuredClone(state));
  }

  /** @param {Answers} shown */
  function showAll(shown) {
    const sequence = frames.sequence[state.frame];
    parts.controls.update(state, sequence, {
      previousFrame: nextFrame(frames, visited, state.frame, -1) !== null,
      nextFrame: nextFrame(frames, visited, state.frame, 1) !== null,
      previousSequence: nextSequence(frames, visited, state.frame, -1) !== null,
      nextSequence: nextSequence(frames, visited, state.frame, 1) !== null,
    }, shown.loaded !== null);
    parts.status.textContent = statusText(source, state.frame, state.submissions, shown.counts) + notesOf(displayOf(shown), visited);
    parts.columns.textContent = [...source.columns(state.frame)].map(([name, value]) => `${name}: ${value}`).join("; ");
    redraw(); // before the table, so that sizes are read from a layout that is known
    if (!clock.isPlaying()) showObjects(shown);
  }

  /** @param {Answers} shown */
  function showObjects(shown) {
    parts.objects.show(shown.frames, (object) => isChosen(displayOf(shown), object), passes);
  }

  function showNothing() {
    parts.status.textContent = "there are no frames";
    parts.below.hidden = true;
  }

  /** @param {Answers} shown @returns {Display} */
  function displayOf(shown) {
    return { source, state, answers: shown, passes, marked, hovered };
  }

  // Draws what needs no answers anew, after a change of size or colours.
  function redraw() {
    if (!answers) return;
    const { plain, stage } = coloursOf(answers);
    drawScenes();
    showLegend(parts.legend, about, stage, coloringOf(state, answers), answers.submissions);
    parts.player.show(reelOf(displayOf(answers), plain));
    const times = timesOf(displayOf(answers), plain);
    parts.times.forEach(({ element, show }, i) => {
      element.hidden = i >= times.length;
      if (i < times.length) show(times[i]);
    });
    parts.timesNote.hidden = parts.times.every(({ element }) => element.hidden);
  }

  // The colours of the page, and those of frames: on pictures, and on the dark field of tracks without them.
  /** @param {Answers} shown */
  function coloursOf({ loaded }) {
    const { plain, onPicture } = palettesOf(root);
    return { plain, stage: loaded || isDarkField(about) ? onPicture : plain };
  }

  // Draws the frames alone, after a move of the camera or the pointer.
  function drawScenes() {
    if (!answers) return;
    const scenes = scenesOf(displayOf(answers), coloursOf(answers).stage);
    parts.stages.style.setProperty("--viewer-ratio", String(stageRatio(scenes[0].extent)));
    parts.stages.style.setProperty("--viewer-panels", String(scenes.length));
    parts.panels.forEach((panel, i) => { panel.element.hidden = i >= scenes.length; });
    scenes.forEach((scene, i) => parts.panels[i].show(scene));
    point();
  }

  // The pointer is seen in all panels, wherever it or the camera moves.
  function point() {
    showCrosses(parts.panels.filter(({ element }) => !element.hidden));
  }

  // The next frame of the sequence, of those that steps go to.
  async function playOn() {
    const next = nextFrame(frames, visited, state.frame, 1);
    if (next === null || frames.sequence[next] !== frames.sequence[state.frame]) return false;
    await go({ frame: next });
    return true;
  }

  // Plays on from here, or from the first frame if this is the last.
  async function playOrPause() {
    if (clock.isPlaying()) return clock.pause();
    const next = nextFrame(frames, visited, state.frame, 1);
    if (next === null || frames.sequence[next] !== frames.sequence[state.frame]) await go({ frame: firstOf(frames.sequence[state.frame]) });
    clock.play();
  }

  // What waits while frames are played: the table of objects, and what the page makes of the state.
  /** @param {boolean} isPlaying */
  function showPlaying(isPlaying) {
    parts.player.showPlaying(isPlaying);
    parts.status.setAttribute("aria-live", isPlaying ? "off" : "polite");
    parts.objects.element.toggleAttribute("data-waits", isPlaying);
    if (isPlaying || !answers) return;
    showObjects(answers);
    onChange(structuredClone(state));
  }

  /** @param {Goal} what @param {number} by */
  async function toEvent(what, by) {
    const search = ++searched;
    const frame = await nextEvent(source, state.submissions, what, state.frame, by, () => search === searched);
    if (search === searched && frame !== null) to(frame);
  }

  /** @param {number} frame counted from the first of the sequence */
  function toFrame(frame) {
    to(frames.first[frames.sequence[state.frame]] + frame);
  }

  // Every step of the reader's ends playing.
  /** @param {number} frame */
  function to(frame) {
    clock.pause();
    go({ frame });
  }

  /** @param {number} sequence */
  function firstOf(sequence) {
    return visited?.find((frame) => frames.sequence[frame] === sequence) ?? frames.first[sequence];
  }

  /** @param {number} sequence */
  function toSequence(sequence) {
    to(firstOf(sequence));
  }

  /** @param {number} by */
  function stepFrame(by) {
    const frame = nextFrame(frames, visited, state.frame, by);
    if (frame !== null) to(frame);
  }

  /** @param {number} by */
  function stepSequence(by) {
    const frame = nextSequence(frames, visited, state.frame, by);
    if (frame !== null) to(frame);
  }

  /** @param {number} factor */
  function zoom(factor) {
    move(parts.panels[0].zoomedBy(factor), true);
  }

  /** @param {Camera | null} camera @param {boolean} finished */
  function move(camera, finished) {
    state.camera = camera;
    drawScenes();
    if (finished) onChange(structuredClone(state));
  }

  /** @param {Shape | null} shape @param {boolean} more */
  function pick(shape, more) {
    select(shape && { side: shape.side, submission: shape.submission, row: shape.row }, more);
  }

  /** @param {Selected | null} selected @param {boolean} more */
  function select(selected, more) {
    clock.pause(); // what was clicked stays in sight
    go({ selected });
    onSelect(selected, more);
  }

  /** @param {Shape | null} shape */
  function hover(shape) {
    if (shape === hovered) return;
    hovered = shape;
    drawScenes();
  }

  /** @param {number} i which of the shown submissions @param {number} object @param {number} frame */
  function jump(i, object, frame) {
    const { lives: every, submissions, frame: here } = known(answers);
    const lives = every[i];
    const cell = lives.counted ? -1 : cellOf(lives, object, frame);
    const selected = cell < 0 ? null : { side: /** @type {Side} */ ("truth"), submission: submissions[i], row: lives.row[cell] };
    if (selected) onSelect(selected, false);
    clock.pause();
    go({ frame: frames.first[frames.sequence[here]] + frame, ...(selected ? { selected } : {}) });
  }

  ask();
  return {
    state: () => structuredClone(state),
    go(change) {
      clock.pause();
      return go(change);
    },
    filter(nextPasses, nextFrames) {
      [passes, visited] = [nextPasses, nextFrames];
      return ask();
    },
    mark(objects) {
      marked = new Set(objects.map(keyOfObject));
      if (!answers) return;
      drawScenes();
      showObjects(answers);
    },
  };
}

/**
 * Whether tracks have no pictures, so that they are drawn on a dark field with their trails.
 * @param {import("./source.js").SourceFacts} about
 */
function isDarkField({ identities, pictures }) {
  return identities && !pictures;
}

/**
 * The parts of the viewer in their order; there are as many panels and time lines as submissions.
 * @param {HTMLElement} root
 * @param {Source} source
 * @param {import("./controls.js").Actions & import("./panel.js").PanelActions & import("./player.js").PlayerActions & {select: (selected: Selected, more: boolean) => void, jump: (i: number, object: number, frame: number) => void}} actions
 */
function buildParts(root, { about, frames }, actions) {
  root.classList.add("viewer");
  const controls = makeControls(about, actions);
  const status = make("p", "viewer-status");
  status.setAttribute("role", "status");
  const columns = make("p", "viewer-columns");
  const legend = make("ul", "viewer-legend");
  const stages = make("div", "viewer-stages");
  stages.tabIndex = 0;
  stages.setAttribute("role", "group");
  stages.setAttribute("aria-label", "Frame");
  const panels = about.submissions.map(() => makePanel(actions));
  const player = makePlayer(about.identities, actions);
  const times = about.submissions.map((_, i) => makeTimeLine((object, frame) => actions.jump(i, object, frame)));
  const timesNote = make("p", "viewer-keys", about.identities ? TIMES_OF_TRACKS : TIMES_OF_COUNTS);
  const objects = makeObjectsTable(about, actions.select);
  stages.append(...panels.map(({ element }) => element));
  const below = make("div");
  below.append(columns, legend, stages, player.element, make("p", "viewer-keys", keysText(about.identities, about.submissions.length > 1)), ...times.map(({ element }) => element), timesNote, objects.element);
  controls.element.hidden = !frames.n;
  root.replaceChildren(controls.element, status, below);
  return { controls, status, columns, legend, stages, panels, player, times, timesNote, objects, below };
}
