// The viewer: builds its parts, keeps what is shown, and shows what a source answers. It knows nothing of its page.

import { known } from "./columns.js";
import { makeControls } from "./controls.js";
import { covering } from "./draw.js";
import { make } from "./elements.js";
import { stageRatio } from "./geometry.js";
import { showLegend } from "./legend.js";
import { cellOf } from "./lives.js";
import { makeObjectsTable } from "./objects.js";
import { palettesOf } from "./palette.js";
import { makePanel } from "./panel.js";
import { answersOf, breakText, follows, isSame, keyOfObject, possible, selectedAgain, truthOfSelected } from "./state.js";
import { nextFrame, nextSequence } from "./steps.js";
import { detailsOf, statusText } from "./texts.js";
import { makeTimeLine } from "./time_line.js";

/**
 * @import { Coloring, Passes } from "./draw.js"
 * @import { Camera, Shape } from "./geometry.js"
 * @import { FrameRows, Side } from "./lives.js"
 * @import { Palette } from "./palette.js"
 * @import { Extent, Source } from "./source.js"
 * @import { Answers, Followed, Selected, State } from "./state.js"
 *
 * @typedef {object} Viewer
 * @property {() => State} state
 * @property {(change: Partial<State>) => Promise<void>} go
 * @property {(passes: Passes | null, frames: Int32Array | null) => Promise<void>} filter
 * @property {(objects: Selected[]) => void} mark marks objects besides the selected one
 */

const MOST_SHOWN = 2; // submissions, at first
const KEY_ZOOM = 1.4;
const KEYS = "← → step through frames, Page Up and Page Down through sequences, + and − zoom, 0 shows the whole frame. " +
  "Ctrl and the mouse wheel zoom, drag moves, a click selects, also in the table and the time line.";
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
    trail: 0,
    marks: true,
    camera: null,
    selected: null,
  };
  /** @type {Followed | null} */
  let followed = null; // the selected object, which is selected again in other frames
  /** @type {Passes | null} */
  let passes = null;
  /** @type {Int32Array | null} */
  let visited = null;
  /** @type {Shape | null} */
  let hovered = null;
  let marked = new Set(); // keys of objects
  /** @type {Answers | null} */
  let answers = null;
  let asked = 0;

  const parts = buildParts(root, source, { change: go, toSequence, stepFrame, stepSequence, zoom, select, move, pick, hover, jump });
  root.addEventListener("keydown", onKey);
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
    follow(answered.frames);
    showAll(answered);
    onChange(structuredClone(state));
  }

  /** @param {FrameRows[]} shown */
  function follow(shown) {
    const { selected } = state;
    const rows = shown.find(({ submission }) => submission === (selected ?? followed)?.submission);
    const here = rows && selected ? follows(rows, selected) : null;
    if (here) followed = here;
    else {
      if (!about.identities) followed = null;
      state.selected = rows && followed ? selectedAgain(rows, followed) : null;
    }
  }

  /** @param {Answers} shown */
  function showAll(shown) {
    const sequence = frames.sequence[state.frame];
    parts.controls.update(state, sequence, {
      previousFrame: nextFrame(frames, visited, state.frame, -1) !== null,
      nextFrame: nextFrame(frames, visited, state.frame, 1) !== null,
      previousSequence: nextSequence(frames, visited, state.frame, -1) !== null,
      nextSequence: nextSequence(frames, visited, state.frame, 1) !== null,
    }, shown.shown !== null);
    parts.status.textContent = statusText(source, state.frame, state.submissions, shown.counts) + notes(shown);
    parts.columns.textContent = [...source.columns(state.frame)].map(([name, value]) => `${name}: ${value}`).join("; ");
    redraw(); // before the table, so that sizes are read from a layout that is known
    showObjects(shown);
  }

  /** @param {Answers} shown */
  function showObjects(shown) {
    parts.objects.show(shown.frames, (one) => marked.has(keyOfObject(one)) || (!!state.selected && keyOfObject(one) === keyOfObject(state.selected)), passes);
  }

  function showNothing() {
    parts.status.textContent = "there are no frames";
    parts.below.hidden = true;
  }

  /** @param {Answers} shown */
  function notes({ shown }) {
    const lacking = about.pictures && !shown ? " (no picture)" : "";
    const note = lacking + (source.note?.(state.frame, state.submissions) ?? "");
    if (!visited) return note;
    const n = visited.length;
    return `${note}; ${n > 1 ? `${n.toLocaleString("en")} frames pass` : `${n || "no"} frame passes`} the filter`;
  }

  // What the colours tell, and which they are, on pictures and elsewhere.
  function colours() {
    const { plain, onPicture } = palettesOf(root);
    const over = state.layout === "over" && known(answers).submissions.length > 1;
    /** @type {Coloring} */
    const coloring = state.colour === "identity" ? "identity" : over ? "submission" : "outcome";
    return { over, coloring, plain, palette: answers?.shown ? onPicture : plain };
  }

  // Draws what needs no answers anew, after a change of size or colours.
  function redraw() {
    if (!answers) return;
    const { coloring, palette, plain } = colours();
    drawScenes();
    showLegend(parts.legend, about, palette, coloring, answers.submissions);
    showTimes(answers, plain);
  }

  // Draws the frames alone, after a move of the camera or the pointer.
  function drawScenes() {
    if (!answers) return;
    const shown = answers;
    const { over, coloring, palette } = colours();
    const groups = over ? [[...shown.layers.keys()]] : [...shown.layers.keys()].map((i) => [i]);
    const extent = covering(about.sequences[frames.sequence[shown.frame]].extent, shown.shown?.picture ?? null);
    parts.stages.style.setProperty("--viewer-ratio", String(stageRatio(extent)));
    parts.stages.style.setProperty("--viewer-panels", String(groups.length));
    parts.panels.forEach((panel, i) => { panel.element.hidden = i >= groups.length; });
    groups.forEach((group, i) => parts.panels[i].show(sceneOf(shown, group, extent, palette, coloring)));
  }

  /** @param {Answers} shown @param {number[]} group @param {Extent} extent @param {Palette} palette @param {Coloring} coloring */
  function sceneOf(shown, group, extent, palette, coloring) {
    const submissions = group.map((i) => shown.submissions[i]);
    const drawn = state.marks || !shown.shown ? group.map((i) => shown.layers[i]) : [];
    return {
      title: about.submissions.length > 1 ? submissions.map((submission) => about.submissions[submission]).join(", ") : "",
      description: statusText(source, shown.frame, submissions, group.map((i) => shown.counts[i])),
      layers: drawn,
      shown: shown.shown,
      extent,
      camera: state.camera,
      look: { about, palette, coloring, passes, labelOf: labels(shown, coloring), emphasis },
      detailsOf: (/** @type {Shape} */ shape) => detailsOf(rowsOfShape(shown, shape), shape.side, shape.row, about),
    };
  }

  /** @param {Answers} shown @param {Shape} shape */
  function rowsOfShape(shown, shape) {
    return known(shown.frames.find(({ submission }) => submission === shape.submission));
  }

  /** @param {Shape} shape */
  function emphasis(shape) {
    if (marked.has(keyOfObject(shape)) || (state.selected && isSame(shape, state.selected))) return "selected";
    return hovered && isSame(shape, hovered) ? "hovered" : null;
  }

  /**
   * Which shapes have which label: switches and gaps always, names where colours tell identities or one is selected.
   * @param {Answers} shown @param {Coloring} coloring
   * @returns {(shape: Shape) => string | null}
   */
  function labels({ frame, submissions, lives }, coloring) {
    const places = about.identities ? lives.map(({ objects }) => new Map(objects.map((name, i) => [name, i]))) : [];
    return (shape) => {
      if (!about.identities || (!shape.leads && !emphasis(shape))) return null;
      const named = coloring === "identity" || emphasis(shape) ? shape.name : null;
      if (shape.side === "predicted") return named;
      const i = submissions.indexOf(shape.submission);
      const object = places[i].get(shape.name);
      if (object === undefined) return named;
      return breakText(lives[i], object, frame - frames.first[frames.sequence[frame]]) ?? named;
    };
  }

  /** @param {Answers} shown @param {Palette} palette */
  function showTimes({ frame, submissions, frames: rows, lives }, palette) {
    const sequence = frames.sequence[frame];
    const first = frames.first[sequence];
    parts.times.forEach((time, i) => {
      time.element.hidden = i >= lives.length;
      if (i >= lives.length) return;
      const submission = submissions[i];
      const whose = about.submissions.length > 1 ? `${about.submissions[submission]}, ` : "";
      const title = `Time line: ${whose}sequence ${about.sequences[sequence].name}`;
      const nFrames = frames.first[sequence + 1] - first;
      const look = { palette, byIdentity: state.colour === "identity", nFrames, passes: passes?.truth[submission] ?? null };
      const object = lives[i].objects.indexOf(truthOfSelected(rows[i], state.selected) ?? "");
      time.show(title, lives[i], look, frame - first, object);
    });
    parts.timesNote.hidden = parts.times.every(({ element }) => element.hidden);
  }

  /** @param {number} sequence */
  function toSequence(sequence) {
    go({ frame: visited?.find((frame) => frames.sequence[frame] === sequence) ?? frames.first[sequence] });
  }

  /** @param {number} by */
  function stepFrame(by) {
    const frame = nextFrame(frames, visited, state.frame, by);
    if (frame !== null) go({ frame });
  }

  /** @param {number} by */
  function stepSequence(by) {
    const frame = nextSequence(frames, visited, state.frame, by);
    if (frame !== null) go({ frame });
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
    go({ frame: frames.first[frames.sequence[here]] + frame, ...(selected ? { selected } : {}) });
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const within = event.target instanceof Element ? event.target : root;
    if (event.ctrlKey || event.altKey || event.metaKey || within.closest("select, input, .viewer-scroll, .viewer-time-scroll")) return;
    const act = keys().get(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @returns {Map<string, () => void>} */
  function keys() {
    return new Map([
      ["ArrowLeft", () => stepFrame(-1)],
      ["ArrowRight", () => stepFrame(1)],
      ["PageUp", () => stepSequence(-1)],
      ["PageDown", () => stepSequence(1)],
      ["+", () => zoom(KEY_ZOOM)],
      ["-", () => zoom(1 / KEY_ZOOM)],
      ["0", () => move(null, true)],
    ]);
  }

  ask();
  return {
    state: () => structuredClone(state),
    go,
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
 * The parts of the viewer in their order; there are as many panels and time lines as submissions.
 * @param {HTMLElement} root
 * @param {Source} source
 * @param {import("./controls.js").Actions & import("./panel.js").PanelActions & {select: (selected: Selected, more: boolean) => void, jump: (i: number, object: number, frame: number) => void}} actions
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
  const times = about.submissions.map((_, i) => makeTimeLine((object, frame) => actions.jump(i, object, frame)));
  const timesNote = make("p", "viewer-keys", about.identities ? TIMES_OF_TRACKS : TIMES_OF_COUNTS);
  const objects = makeObjectsTable(about, actions.select);
  stages.append(...panels.map(({ element }) => element));
  const below = make("div");
  below.append(columns, legend, stages, make("p", "viewer-keys", KEYS), ...times.map(({ element }) => element), timesNote, objects.element);
  controls.element.hidden = !frames.n;
  root.replaceChildren(controls.element, status, below);
  return { controls, status, columns, legend, stages, panels, times, timesNote, objects, below };
}
