// The section of frames: the filter, the viewer and the gallery, which follow one another, and their address.

import { make, makeButton } from "../../../viewer/assets/elements.js";
import { sourceOf } from "../../../viewer/assets/source.js";
import { tallyText } from "../../../viewer/assets/texts.js";
import { createViewer } from "../../../viewer/assets/viewer.js";
import { conditionText, framesOfPassing, heldConditions, passingOf, possibleConditions } from "./filters.js";
import { makeFilter } from "./filter_form.js";
import { makeGallery, possibleGallery } from "./gallery.js";
import { addressOf, shownOf, submissionsNamed } from "./links.js";
import { changesOf } from "./match_rows.js";

/**
 * @import { View } from "../../../viewer/assets/columns.js"
 * @import { Counts } from "../../../viewer/assets/lives.js"
 * @import { Picture } from "../../../viewer/assets/source.js"
 * @import { State } from "../../../viewer/assets/state.js"
 * @import { Condition, Passing } from "./filters.js"
 * @import { Shown } from "./links.js"
 *
 * @typedef {object} Explorer
 * @property {(conditions: Condition[]) => boolean} holds whether the page has frames that conditions may mean
 * @property {(conditions: Condition[]) => Promise<void>} jump shows what conditions mean, among them `submission`
 */

/** The address follows after this time, ms: browsers refuse to change it a hundred times within seconds. */
const ADDRESS_DELAY = 200;

/** No frame is this one, so the first frame that passes is shown. */
const NO_FRAME = -1;

/**
 * Builds the section within its element, whose children are the places of the filter, the viewer and the gallery.
 * @param {HTMLElement} section
 * @param {View} view
 * @param {Map<number, Picture>} pictures
 * @returns {Promise<Explorer>}
 */
export async function makeExplorer(section, view, pictures) {
  const source = sourceOf(view, pictures);
  const [filterPlace, viewerPlace, linkPlace, galleryPlace] = ["filter", "viewer", "link", "gallery"].map((name) => placeIn(section, name));
  /** @type {Condition[]} */
  let filter = [];
  /** @type {Passing | null} */
  let passing = null;
  let gallery = possibleGallery({});
  let told = ""; // the submissions that the filter and the gallery were shown for
  let isReady = false;
  let timer = 0;

  const viewer = createViewer(viewerPlace, source, { onChange: changed });
  const showFilter = makeFilter(filterPlace, view, (conditions) => { filterBy(conditions); });
  const showGallery = makeGallery(galleryPlace, source, {
    open: (frame) => { viewer.go({ frame }).then(() => reveal(viewerPlace)); },
    change: (change) => { gallery = possibleGallery({ ...gallery, ...change }); tell(); },
  });
  makeLink(linkPlace, () => address());
  addEventListener("hashchange", () => { restore(shownOf(source, location.hash)); });
  await restore(shownOf(source, location.hash) ?? { viewer: {}, filter: [], gallery });
  isReady = true;
  return {
    holds: (conditions) => heldConditions(view, ofRows(conditions)) !== null && ofSubmissions(conditions).length > 0,
    async jump(conditions) {
      const others = ofRows(conditions);
      await filterBy(heldConditions(view, others) ?? others, ofSubmissions(conditions), NO_FRAME);
      reveal(section);
    },
  };

  /** @param {Condition[]} conditions @param {number[]} [submissions] @param {number} [frame] */
  async function filterBy(conditions, submissions = viewer.state().submissions, frame = viewer.state().frame) {
    filter = conditions;
    told = submissions.join();
    passing = filter.length ? passingOf(view, filter) : null;
    const visited = passing && framesOfPassing(passing, submissions);
    const passes = !visited || visited.includes(frame);
    await viewer.go({ submissions, ...(passes || !visited.length ? {} : { frame: visited[0], camera: null }) });
    await viewer.filter(passing, visited);
    tell();
  }

  /** @param {Shown | null} shown */
  async function restore(shown) {
    if (!shown) return;
    gallery = possibleGallery(shown.gallery);
    const { camera, selected, ...others } = shown.viewer;
    await viewer.go(others);
    await filterBy(possibleConditions(view, shown.filter), viewer.state().submissions);
    await viewer.go({ camera, selected });
    if (location.hash.startsWith("#view")) reveal(section);
  }

  /** @param {State} state */
  function changed({ submissions }) {
    if (!isReady) return;
    if (submissions.join() === told) keepAddress();
    else filterBy(filter);
  }

  // Says what is filtered, and shows the gallery of it.
  function tell() {
    const { submissions } = viewer.state();
    const n = passing ? framesOfPassing(passing, submissions).length : source.frames.n;
    showFilter(filter, filterText(n));
    tellGallery(submissions[0]);
    keepAddress();
  }

  /** @param {number} submission the gallery is of one */
  function tellGallery(submission) {
    const countsOf = (/** @type {number} */ frame) => /** @type {Counts | null} */ (source.counts(frame, submission));
    const whose = source.about.submissions.length > 1 ? ` of ${source.about.submissions[submission]}` : "";
    showGallery(gallery, {
      frames: passing ? framesOfPassing(passing, [submission]) : presentFrames(countsOf),
      weight: (frame) => (passing ? passing.tally[submission][frame] : errorsIn(countsOf(frame))),
      submission,
      passes: passing,
      tally: (frame) => tallyText(countsOf(frame)),
      what: passing ? `frames${whose} that pass the filter` : `frames${whose}`,
    });
  }

  /** @param {(frame: number) => Counts | null} countsOf */
  function presentFrames(countsOf) {
    return Int32Array.from({ length: source.frames.n }, (_, frame) => frame).filter((frame) => countsOf(frame) !== null);
  }

  /** @param {number} nFrames */
  function filterText(nFrames) {
    const { submissions } = viewer.state();
    if (!passing) return "";
    const [n, all] = [passing.passing, passing.all].map((counts) => sum(submissions.map((i) => counts[i])));
    const whose = source.about.submissions.length > 1 ? `${submissions.map((i) => source.about.submissions[i]).join(", ")}, ` : "";
    const what = `${whose}${filter.map(conditionText).join(", ")}`;
    if (!nFrames) return `${what}: nothing on this page passes this filter. Remove a part of it to see more.`;
    return `${what}: ${n.toLocaleString("en")} of ${all.toLocaleString("en")} rows on this page, in ${counted(nFrames, "frame")}.`;
  }

  /** @param {Condition[]} conditions */
  function ofRows(conditions) {
    return conditions.filter(({ column }) => column !== "submission");
  }

  /** @param {Condition[]} conditions the submissions that they name; those that are shown where they name none */
  function ofSubmissions(conditions) {
    const valuesOfColumn = (/** @type {string} */ name) => conditions.flatMap((one) => (one.column === name && "is" in one ? one.is : []));
    const changes = changesOf(view);
    const changed = valuesOfColumn("change").flatMap((text) => changes.get(text) ?? []);
    if (changed.length) return [changed[0].before, changed[0].after];
    const names = valuesOfColumn("submission");
    return names.length ? submissionsNamed(source, names) : viewer.state().submissions;
  }

  function address() {
    return addressOf(source, viewer.state(), filter, gallery);
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

/** @param {number} n @param {string} what */
function counted(n, what) {
  return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
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
  const told = make("span");
  told.setAttribute("role", "status");
  const copy = async () => {
    const link = new URL(address(), location.href).href;
    try {
      await navigator.clipboard.writeText(link);
      told.textContent = "Copied.";
    } catch {
      told.textContent = link;
    }
  };
  root.replaceChildren(makeButton("Copy link to this view", copy), told);
}
