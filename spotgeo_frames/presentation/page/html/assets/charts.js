// Charts by Vega: draws them, keeps the ratio of maps, and tells which rows a mark that was clicked counts.

/**
 * @import { Condition } from "./filters.js"
 *
 * @typedef {{column: string, is?: string, from?: string, to?: string}} Field which fields of a mark say what it counts
 * @typedef {{description: string, usermeta: {ratio?: number, filters?: Field[]}}} Spec
 * @typedef {{width: () => number, height: (value?: number) => any, runAsync: () => Promise<any>, signal: (name: string, value: any) => any, addSignalListener: (name: string, act: () => void) => void, addEventListener: (name: string, act: (event: any, item: any) => void) => void}} VegaView
 */

/**
 * Draws a chart; `pick`, if any, gets what a mark counts when it is clicked.
 * @param {HTMLElement} place
 * @param {Spec} spec
 * @param {((conditions: Condition[]) => void) | null} pick
 * @returns {Promise<VegaView>}
 */
export async function drawChart(place, spec, pick) {
  const embedded = await /** @type {any} */ (window).vegaEmbed(place, spec, { actions: false, renderer: "svg", ast: true });
  /** @type {VegaView} */
  const view = embedded.view;
  keepRatio(view, spec.usermeta.ratio);
  const { filters } = spec.usermeta;
  if (filters && pick) {
    place.dataset.linked = "yes";
    view.addEventListener("click", (_, item) => {
      const conditions = conditionsOfMark(filters, item?.datum);
      if (conditions) pick(conditions);
    });
  }
  // To a screen reader a chart is one picture with a description; the tables of the page have its numbers.
  const picture = place.querySelector("svg");
  picture?.setAttribute("role", "img");
  picture?.setAttribute("aria-label", spec.description);
  for (const part of picture?.children ?? []) part.setAttribute("aria-hidden", "true");
  return view;
}

/**
 * Where both axes are pixels, the height follows from the width.
 * @param {VegaView} view
 * @param {number | undefined} ratio
 */
function keepRatio(view, ratio) {
  if (!ratio) return;
  const fit = () => {
    const height = Math.round(view.width() * ratio);
    if (height > 0 && Math.abs(height - view.height()) > 1) view.height(height).runAsync();
  };
  fit();
  view.addSignalListener("width", () => setTimeout(fit));
}

/**
 * What a mark counts; null where it has not the fields that say so, such as an axis or a line of a limit.
 * @param {Field[]} filters
 * @param {any} datum
 * @returns {Condition[] | null}
 */
export function conditionsOfMark(filters, datum) {
  const has = (/** @type {string | undefined} */ field) => field === undefined || (datum && Object.hasOwn(datum, field) && datum[field] !== null);
  // A chart of one submission may not say which.
  const fields = filters.filter(({ column, is }) => column !== "submission" || has(is));
  if (!fields.length || !fields.every(({ is, from, to }) => has(is) && has(from) && has(to))) return null;
  return fields.map(({ column, is, from, to }) => {
    if (is !== undefined) return { column, is: [String(datum[is])] };
    const bound = (/** @type {string | undefined} */ field) => (field === undefined ? null : Number(datum[field]));
    return { column, from: bound(from), to: bound(to) };
  });
}
