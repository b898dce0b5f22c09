// Patches of an explorer: errors, what passes the filter, or marked rows, sorted by any column of numbers.

import { known } from "../../viewer/assets/columns.js";
import { enable, make, makeButton, makeCheck, makeSelect } from "../../viewer/assets/elements.js";
import { FRAME_ORDER, makePatches, MOST_PATCHES, PATCHES_AT_ONCE, SCORE_COLUMN } from "../../viewer/assets/patches.js";

/**
 * @import { Passes } from "../../viewer/assets/draw.js"
 * @import { Patch } from "../../viewer/assets/patches.js"
 * @import { Source } from "../../viewer/assets/source.js"
 * @import { ColumnNames, Part } from "./counts.js"
 * @import { Kernel } from "./kernel.js"
 */

const MARKED = "marked";
const LISTS = [["errors", "errors"], ["filter", "rows that pass the filter"], [MARKED, "marked rows"]];

/**
 * @param {Kernel} kernel
 * @param {Source} source
 * @param {ColumnNames} columns
 * @param {{open: (patch: Patch, more: boolean, marks: boolean) => void, passes: () => Passes | null}} actions
 * @returns {Part & {mark: (keys: Set<string>) => void}}
 */
export function makePatchList(kernel, source, { numbers }, { open, passes }) {
  const names = ["", ...numbers];
  let asked = { of: LISTS[0][0], by: numbers.includes(SCORE_COLUMN) ? SCORE_COLUMN : "", rising: false, n: PATCHES_AT_ONCE };
  let keys = new Set();
  const ask = (/** @type {Partial<typeof asked>} */ change) => { asked = { ...asked, n: PATCHES_AT_ONCE, ...change }; show(); };
  const lists = makeSelect("Show", LISTS.map(([, text]) => text), (i) => ask({ of: LISTS[i][0] }));
  const sorts = makeSelect("Sort by", names.map((name) => name || FRAME_ORDER), (i) => ask({ by: names[i] }));
  sorts.select.selectedIndex = names.indexOf(asked.by);
  const check = makeCheck("least first", (rising) => ask({ rising }));
  const [element, controls, status] = [make("div"), make("div", "viewer-controls"), make("p", "explorer-help")];
  controls.append(lists.label, sorts.label, check.label);
  const patches = makePatches(source, (patch, more) => open(patch, more, asked.of !== MARKED));
  const more = makeButton(`${PATCHES_AT_ONCE} more patches`, () => ask({ n: patches.element.children.length + PATCHES_AT_ONCE }));
  element.append(controls, status, patches.element, more);
  return { element, show, follows: (what) => what === "filter" || asked.of === MARKED, mark(marked) { keys = marked; patches.mark(keys); } };

  async function show() {
    const own = asked;
    check.label.hidden = !own.by;
    const { content } = await kernel.ask("patches", own);
    if (own !== asked) return; // something else was asked meanwhile
    const shown = content.patches.map((/** @type {[number, "truth" | "predicted", number, number]} */ [frame, side, submission, row]) => ({ frame, object: { side, submission, row } }));
    const text = known(LISTS.find(([name]) => name === own.of))[1];
    status.textContent = `${shown.length.toLocaleString("en")} of ${content.n_rows.toLocaleString("en")} ${text}`;
    patches.show(shown, passes());
    patches.mark(keys);
    enable(more, shown.length < Math.min(content.n_rows, MOST_PATCHES));
  }
}
