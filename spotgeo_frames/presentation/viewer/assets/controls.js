// The controls of the viewer: what to show, and steps to other frames.

import { enable, make, makeButton, makeCheck, makeSelect } from "./elements.js";

/**
 * @import { SourceFacts } from "./source.js"
 * @import { State } from "./state.js"
 *
 * @typedef {object} Actions what the controls ask for
 * @property {(change: Partial<State>) => void} change
 * @property {(sequence: number) => void} toSequence
 * @property {(by: number) => void} stepFrame
 * @property {(by: number) => void} stepSequence
 * @property {(factor: number) => void} zoom
 *
 * @typedef {{previousFrame: boolean, nextFrame: boolean, previousSequence: boolean, nextSequence: boolean}} Steps
 * @typedef {{element: HTMLElement, update: (state: State, sequence: number, steps: Steps, hasPicture: boolean) => void}} Controls
 */

const TRAILS = [0, 5, 10, 30];
/** @type {State["layout"][]} */
const LAYOUTS = ["beside", "over"];
/** @type {State["colour"][]} */
const COLOURS = ["outcome", "identity"];
export const ZOOM = 1.4; // of one press of a button or a key

/**
 * @param {SourceFacts} about
 * @param {Actions} actions
 * @returns {Controls}
 */
export function makeControls(about, actions) {
  const element = make("div", "viewer-controls");
  const sequences = makeSelect("Sequence", about.sequences.map(({ label }) => label), actions.toSequence);
  // A list of thousands of sequences would be measured at each step if its width were that of its longest name.
  const longest = about.sequences.reduce((most, { label }) => Math.max(most, label.length), 0);
  sequences.select.style.width = `calc(${longest}ch + 3rem)`;
  const submissions = makeSubmissions(about.submissions, (shown) => actions.change({ submissions: shown }));
  const layout = makeSelect("Submissions", ["beside one another", "over one another"], (i) => actions.change({ layout: LAYOUTS[i] }));
  const colour = makeSelect("Colours tell", ["the outcome", "the identity"], (i) => actions.change({ colour: COLOURS[i] }));
  const trails = makeSelect("Trails", TRAILS.map((n) => (n ? `${n} frames` : "none")), (i) => actions.change({ trail: TRAILS[i] }));
  const marks = makeCheck("Marks", (checked) => actions.change({ marks: checked }));
  const labels = makeCheck("Labels", (checked) => actions.change({ labels: checked }));
  const steps = {
    previousSequence: makeButton("Previous sequence", () => actions.stepSequence(-1)),
    nextSequence: makeButton("Next sequence", () => actions.stepSequence(1)),
    previousFrame: makeButton("Previous frame", () => actions.stepFrame(-1)),
    nextFrame: makeButton("Next frame", () => actions.stepFrame(1)),
  };
  const zooms = [
    makeButton("Zoom in", () => actions.zoom(ZOOM)),
    makeButton("Zoom out", () => actions.zoom(1 / ZOOM)),
    makeButton("Whole frame", () => actions.change({ camera: null })),
  ];
  const buttons = make("div", "viewer-buttons");
  buttons.append(...Object.values(steps), ...zooms);
  element.append(sequences.label, submissions.element, layout.label, colour.label, trails.label, marks.label, labels.label, buttons);
  colour.label.hidden = trails.label.hidden = !about.identities;
  return {
    element,
    update(state, sequence, reachable, hasPicture) {
      sequences.select.selectedIndex = sequence;
      submissions.update(state.submissions);
      layout.label.hidden = state.submissions.length < 2;
      layout.select.selectedIndex = LAYOUTS.indexOf(state.layout);
      colour.select.selectedIndex = COLOURS.indexOf(state.colour);
      trails.select.selectedIndex = TRAILS.findLastIndex((n) => n <= state.trail);
      marks.label.hidden = !hasPicture;
      marks.input.checked = state.marks;
      labels.input.checked = state.labels;
      enable(steps.previousFrame, reachable.previousFrame);
      enable(steps.nextFrame, reachable.nextFrame);
      enable(steps.previousSequence, reachable.previousSequence);
      enable(steps.nextSequence, reachable.nextSequence);
    },
  };
}

/**
 * The choice of submissions, of which at least one is shown.
 * @param {string[]} names
 * @param {(shown: number[]) => void} choose
 */
function makeSubmissions(names, choose) {
  const element = make("fieldset", "viewer-submissions");
  element.append(make("legend", "", "Shown"));
  element.hidden = names.length < 2;
  const boxes = names.map((name) => makeCheck(name, () => {
    choose(boxes.flatMap(({ input }, i) => (input.checked ? [i] : [])));
  }));
  element.append(...boxes.map(({ label }) => label));
  return {
    element,
    update(/** @type {number[]} */ shown) {
      boxes.forEach(({ input }, i) => { input.checked = shown.includes(i); });
    },
  };
}
