// Patches of rows: those that pass the filter, or else the errors, sorted by any number of theirs.

import { enable, make, makeButton, makeCheck, makeSelect } from "../../../viewer/assets/elements.js";
import { FRAME_ORDER, makePatches, MOST_PATCHES, PATCHES_AT_ONCE, SCORE_COLUMN } from "../../../viewer/assets/patches.js";
import { columnNames, matchRowsOf, valuesOf } from "./match_rows.js";

/**
 * @import { View } from "../../../viewer/assets/columns.js"
 * @import { Patch } from "../../../viewer/assets/patches.js"
 * @import { Source } from "../../../viewer/assets/source.js"
 * @import { Passing } from "./filters.js"
 *
 * @typedef {object} PatchOrder
 * @property {string} by a column of numbers; empty for the order of the frames
 * @property {boolean} rising whether the least number comes first
 * @property {number} shown how many patches
 */

/** No rows, of which a column has its type all the same. */
const NO_ROWS = { n: 0, nObjects: 0, frame: new Int32Array(), truth: new Int32Array(), predicted: new Int32Array(), counts: new Uint8Array() };

/**
 * The columns of numbers by which patches can be sorted.
 * @param {View} view
 * @returns {string[]}
 */
function numberColumns(view) {
  return columnNames(view).filter((name) => view.submissions.some((submission) => {
    const values = valuesOf(view, submission, NO_ROWS, name);
    return values !== null && "numbers" in values;
  }));
}

/**
 * The part of an order that can be shown; by default the highest scores come first.
 * @param {View} view
 * @param {Partial<PatchOrder>} order
 * @returns {PatchOrder}
 */
export function possibleOrder(view, { by, rising, shown }) {
  const names = numberColumns(view);
  const usual = names.includes(SCORE_COLUMN) ? SCORE_COLUMN : "";
  return {
    by: by === "" || (by !== undefined && names.includes(by)) ? by : usual,
    rising: rising === true,
    shown: Number.isInteger(shown) && Number(shown) >= PATCHES_AT_ONCE ? Math.min(Number(shown), MOST_PATCHES) : PATCHES_AT_ONCE,
  };
}

/**
 * The rows of a submission that pass, or else its misses and false alarms: the first of an order, and how many there are.
 * @param {View} view
 * @param {number} submission
 * @param {Passing | null} passing
 * @param {PatchOrder} order
 * @returns {{patches: Patch[], n: number}}
 */
export function patchesOf(view, submission, passing, { by, rising, shown }) {
  const rows = matchRowsOf(view, view.submissions[submission]);
  const passes = (/** @type {number} */ i) => {
    const [truth, predicted] = [rows.truth[i], rows.predicted[i]];
    if (!passing) return rows.counts[i] === 1 && (truth < 0 || predicted < 0);
    return truth < 0 ? passing.predicted[submission][predicted] === 1 : passing.truth[submission][truth] === 1;
  };
  const all = Array.from({ length: rows.nObjects }, (_, i) => i).filter(passes);
  const values = by ? valuesOf(view, view.submissions[submission], rows, by) : null;
  const numbers = values && "numbers" in values ? values.numbers : rows.frame;
  const sign = rising || numbers === rows.frame ? 1 : -1;
  // What has no number comes last, whatever the order.
  const key = (/** @type {number} */ i) => (Number.isNaN(numbers[i]) ? Infinity : sign * numbers[i]);
  const first = all.map((i) => ({ i, key: key(i) })).sort((a, b) => (a.key === b.key ? a.i - b.i : a.key - b.key)).slice(0, shown);
  const patches = first.map(({ i }) => ({
    frame: rows.frame[i],
    object: rows.truth[i] < 0
      ? { side: /** @type {const} */ ("predicted"), submission, row: rows.predicted[i] }
      : { side: /** @type {const} */ ("truth"), submission, row: rows.truth[i] },
  }));
  return { patches, n: all.length };
}

/**
 * Builds the patches within an element.
 * @param {HTMLElement} root
 * @param {View} view
 * @param {Source} source
 * @param {{open: (patch: Patch) => void, change: (change: Partial<PatchOrder>) => void}} actions
 * @returns {(order: PatchOrder, submission: number, passing: Passing | null) => void} shows the patches
 */
export function makePatchRows(root, view, source, { open, change }) {
  const names = ["", ...numberColumns(view)];
  const { label, select } = makeSelect("Sort by", names.map((name) => name || FRAME_ORDER), (i) => change({ by: names[i], shown: PATCHES_AT_ONCE }));
  const { label: check, input } = makeCheck("least first", (rising) => change({ rising, shown: PATCHES_AT_ONCE }));
  const status = make("p", "gallery-status");
  const controls = make("div", "viewer viewer-controls");
  controls.append(label, check);
  const { element, show } = makePatches(source, open);
  const more = makeButton("", () => change({ shown: element.children.length + PATCHES_AT_ONCE }));
  root.replaceChildren(make("h3", "", "Patches"), controls, status, element, more);
  return (order, submission, passing) => {
    const { patches, n } = patchesOf(view, submission, passing, order);
    select.selectedIndex = names.indexOf(order.by);
    input.checked = order.rising;
    check.hidden = !order.by;
    const whose = source.about.submissions.length > 1 ? ` of ${source.about.submissions[submission]}` : "";
    status.textContent = `${patches.length.toLocaleString("en")} of ${n.toLocaleString("en")} ${passing ? "rows" : "errors"}${whose}${passing ? " that pass the filter" : ""}`;
    show(patches, passing);
    more.textContent = `${PATCHES_AT_ONCE} more patches`;
    enable(more, patches.length < Math.min(n, MOST_PATCHES));
  };
}
