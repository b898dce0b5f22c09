// The section of frames: the filter, the viewer, the patches and the gallery, which follow one another, and their address.

import { thumbnail } from "../../../viewer/assets/draw.js";
import { make, makeButton } from "../../../viewer/assets/elements.js";
import { sourceOf } from "../../../viewer/assets/source.js";
import { selectedAgain } from "../../../viewer/assets/state.js";
import { counted, tallyText } from "../../../viewer/assets/texts.js";
import { createViewer } from "../../../viewer/assets/viewer.js";
import { conditionText, framesOfPassing, completeConditions, passingOf, possibleConditions } from "./filters.js";
import { makeFilter } from "./filter_form.js";
import { makeGallery, possibleGallery } from "./gallery.js";
import { addressOf, frameNamed, shownOf, submissionsNamed } from "./links.js";
import { changesOf } from "./match_rows.js";
import { makePatchRows, possibleOrder } from "./patch_rows.js";

/**
 * @import { View } from "../../../viewer/assets/columns.js"
 * @import { Counts } from "../../../viewer/assets/lives.js"
 * @import { Picture, Source } from "../../../viewer/assets/source.js"
 * @import { State } from "../../../viewer/assets/state.js"
 * @import { Condition, Passing } from "./filters.js"
 * @import { Shown } from "./links.js"
 *
 * @typedef {{sequence: string, frame: string, submission: string}} Look a frame by its names
 *
 * @typedef {object} FramesSection
 * @property {(conditions: Condition[]) => boolean} canShow whether the page has all that conditions ask for
 * @property {(look: Look, canvas: HTMLCanvasElement) => void} draw draws a frame into a small picture
 * @property {(conditions: Condition[]) => Promise<void>} jump filters by conditions, shows the submissions that they name, and scrolls here
 */

/** The address follows after this time, ms: browsers refuse to change it a hundred times within seconds. */
const ADDRESS_DELAY = 200;

/** Stands for a frame that passes no filter, so that the first frame that does is shown. */
const NO_FRAME = -1;

/**
 * Builds the section within its element, whose children are the places of these parts.
 * @param {HTMLElement} section
 * @param {View} view
 * @param {Map<number, Picture>} pictures
 * @returns {Promise<FramesSection>}
 */
export async function makeFramesSection(section, view, pictures) {
  const source = sourceOf(view, pictures);
  const [filterPlace, viewerPlace, linkPlace, patchesPlace, galleryPlace] = ["filter", "viewer", "link", "patches", "gallery"].map((name) => placeIn(section, name));
  /** @type {Condition[]} */
  let filter = [];
  /** @type {Passing | null} */
  let passing = null;
  let gallery = possibleGallery({});
  let order = possibleOrder(view, {});
  let filteredFor = ""; // the submissions that the texts of the filter and the gallery are about
  let isReady = false;
  let timer = 0;

  const viewer = createViewer(viewerPlace, source, { onChange: changed });
  const showFilter = makeFilter(filterPlace, view, (conditions) => { filterBy(conditions); });
  const showPatches = makePatchRows(patchesPlace, view, source, {
    open: ({ frame, object }) => { viewer.go({ frame, selected: object }).then(() => reveal(viewerPlace)); },
    change: (change) => { order = possibleOrder(view, { ...order, ...change }); update(); },
  });
  const showGallery = makeGallery(galleryPlace, source, {
    open: (frame) => { viewer.go({ frame }).then(() => reveal(viewerPlace)); },
    change: (change) => { gallery = possibleGallery({ ...gallery, ...change }); update(); },
  });
  makeLink(linkPlace, () => address());
  // By now the page may have changed the address of the location again; that of the event is the one asked for.
  addEventListener("hashchange", ({ newURL }) => { restore(shownOf(source, new URL(newURL).hash)); });
  // A link to what the address still says changes no address, although the frames may have gone on since.
  document.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest("a") : null;
    if (link?.hash === location.hash) restore(shownOf(source, link.hash));
  });
  await restore(shownOf(source, location.hash) ?? { viewer: { frame: firstWithErrors(source, viewer.state().submissions) }, object: null, filter: [], gallery, patches: order });
  isReady = true;
  return {
    canShow: (conditions) => completeConditions(view, ofRows(conditions)) !== null && submissionsIn(conditions).length > 0,
    draw(look, canvas) {
      const frame = frameNamed(source, look.sequence, look.frame);
      if (frame !== null) thumbnail(canvas, source, frame, submissionsNamed(source, [look.submission]), null);
    },
    async jump(conditions) {
      const others = ofRows(conditions);
      await filterBy(completeConditions(view, others) ?? others, submissionsIn(conditions), NO_FRAME);
      reveal(section);
    },
  };

  /** @param {Condition[]} conditions @param {number[]} [submissions] @param {number} [frame] */
  async function filterBy(conditions, submissions = viewer.state().submissions, frame = viewer.state().frame) {
    filter = conditions;
    filteredFor = submissions.join();
    passing = filter.length ? passingOf(view, filter) : null;
    const visited = passing && framesOfPassing(passing, submissions);
    const passes = !visited || visited.includes(frame);
    await viewer.go({ submissions, ...(passes || !visited.length ? {} : { frame: visited[0], camera: null }) });
    await viewer.filter(passing, visited);
    update();
  }

  /** @param {Shown | null} shown */
  async function restore(shown) {
    if (!shown) return;
    gallery = possibleGallery(shown.gallery);
    order = possibleOrder(view, shown.patches);
    const { camera, selected, ...others } = shown.viewer;
    await viewer.go(others);
    await filterBy(possibleConditions(view, shown.filter), viewer.state().submissions);
    await viewer.go({ camera, selected: shown.object ? await truthNamed(shown.object) : selected });
    if (location.hash.startsWith("#view")) reveal(section);
  }

  /** @param {{truth: string, joint: string | null}} object */
  async function truthNamed({ truth, joint }) {
    const { frame, submissions: [submission] } = viewer.state();
    return selectedAgain(await source.rows(frame, submission), { side: "truth", submission, name: truth, joint });
  }

  /** @param {State} state */
  function changed({ submissions }) {
    if (!isReady) return;
    if (submissions.join() === filteredFor) keepAddress();
    else filterBy(filter);
  }

  // Says what passes the filter, and shows the patches and the gallery of it.
  function update() {
    const { submissions } = viewer.state();
    showFilter(filter, passing ? filterText(source, filter, passing, submissions) : "");
    showPatches(order, submissions[0], passing);
    showGalleryOf(submissions[0]);
    keepAddress();
  }

  /** @param {number} submission the gallery shows only one */
  function showGalleryOf(submission) {
    const countsAt = (/** @type {number} */ frame) => countsAtHand(source, frame, submission);
    const whose = source.about.submissions.length > 1 ? ` of ${source.about.submissions[submission]}` : "";
    showGallery(gallery, {
      frames: passing ? framesOfPassing(passing, [submission]) : presentFrames(source, submission),
      weight: (frame) => (passing ? passing.tally[submission][frame] : errorsIn(countsAt(frame))),
      submission,
      passes: passing,
      tally: (frame) => tallyText(countsAt(frame)),
      description: passing ? `frames${whose} that pass the filter` : `frames${whose}`,
    });
  }

  /** @param {Condition[]} conditions the submissions that they name; those that are shown where they name none */
  function submissionsIn(conditions) {
    return namedSubmissions(view, source, conditions) ?? viewer.state().submissions;
  }

  function address() {
    return addressOf(source, viewer.state(), filter, gallery, order);
  }

  function keepAddress() {
    if (!isReady) return;
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", address()), ADDRESS_DELAY);
  }
}

/** @param {HTMLElement} section @param {string} name */
function placeIn(section, name) {
  const place = section.querySelector(`.frames-${name}`);
  if (!(place instanceof HTMLElement)) throw new Error(`the page has no place for the ${name}`);
  return place;
}

/** @param {Condition[]} conditions */
function ofRows(conditions) {
  return conditions.filter(({ column }) => column !== "submission");
}

/**
 * The submissions that conditions name, or that a change lies between; null where there are none.
 * @param {View} view
 * @param {Source} source
 * @param {Condition[]} conditions
 */
function namedSubmissions(view, source, conditions) {
  const namedIn = (/** @type {string} */ name) => conditions.flatMap((condition) => (condition.column === name && "is" in condition ? condition.is : []));
  const changes = changesOf(view);
  const [change] = namedIn("change").flatMap((text) => changes.get(text) ?? []);
  if (change) return [change.before, change.after];
  const names = namedIn("submission");
  return names.length ? submissionsNamed(source, names) : null;
}

/**
 * How many rows and frames of the shown submissions pass a filter.
 * @param {Source} source
 * @param {Condition[]} filter
 * @param {Passing} passing
 * @param {number[]} submissions
 */
function filterText({ about }, filter, passing, submissions) {
  const [n, all] = [passing.nPassing, passing.nRows].map((counts) => sum(submissions.map((i) => counts[i])));
  const whose = about.submissions.length > 1 ? `${submissions.map((i) => about.submissions[i]).join(", ")}, ` : "";
  const description = `${whose}${filter.map(conditionText).join(", ")}`;
  const nFrames = framesOfPassing(passing, submissions).length;
  if (!nFrames) return `${description}: nothing on this page passes this filter. Remove a part of it to see more.`;
  return `${description}: ${n.toLocaleString("en")} of ${all.toLocaleString("en")} rows on this page, in ${counted(nFrames, "frame")}.`;
}

/**
 * The counts of a frame, which need no waiting: a page has all of its data.
 * @param {Source} source
 * @param {number} frame
 * @param {number} submission
 */
function countsAtHand(source, frame, submission) {
  return /** @type {Counts | null} */ (source.counts(frame, submission));
}

/** @param {Source} source @param {number} submission */
function presentFrames(source, submission) {
  return Int32Array.from({ length: source.frames.n }, (_, frame) => frame).filter((frame) => countsAtHand(source, frame, submission) !== null);
}

/**
 * The first frame of the first sequence that has an error; its first where there is none.
 * @param {Source} source
 * @param {number[]} submissions
 */
function firstWithErrors(source, submissions) {
  const [first, end] = source.frames.first;
  for (let frame = first; frame < end; frame++) {
    if (submissions.some((submission) => errorsIn(countsAtHand(source, frame, submission)))) return frame;
  }
  return first;
}

/** @param {Counts | null} counts */
function errorsIn(counts) {
  return counts ? counts.missed + counts.wrong : 0;
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}

/**
 * Scrolls to an element, and lets the keyboard go on from there.
 * @param {HTMLElement} element
 */
function reveal(element) {
  const target = element.querySelector("h2") ?? element.querySelector('[tabindex="0"]');
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  element.scrollIntoView();
}

/**
 * A button that copies the address of the view, or shows it where it may not.
 * @param {HTMLElement} root
 * @param {() => string} address
 */
function makeLink(root, address) {
  const status = make("span");
  status.setAttribute("role", "status");
  const copy = async () => {
    const link = new URL(address(), location.href).href;
    try {
      await navigator.clipboard.writeText(link);
      status.textContent = "Copied.";
    } catch {
      status.textContent = link;
    }
  };
  root.replaceChildren(makeButton("Copy link to this view", copy), status);
}
