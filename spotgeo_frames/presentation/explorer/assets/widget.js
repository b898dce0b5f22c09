// The widget: the viewer, a line about filter, marks and tags, and the kernel that knows them.

import { make } from "../../viewer/assets/elements.js";
import { keyOfObject } from "../../viewer/assets/state.js";
import { counted } from "../../viewer/assets/texts.js";
import { createViewer } from "../../viewer/assets/viewer.js";
import { makeCounts } from "./counts.js";
import { connectTo, kernelSource, readPassing } from "./kernel.js";
import { makeMarking } from "./marking.js";
import { makePatchList } from "./patch_list.js";
import { makeScatter } from "./scatter.js";

/**
 * @import { Passes } from "../../viewer/assets/draw.js"
 * @import { Side } from "../../viewer/assets/lives.js"
 * @import { Viewer } from "../../viewer/assets/viewer.js"
 * @import { Part } from "./counts.js"
 * @import { KernelSource, Message, Model } from "./kernel.js"
 *
 * A part that is folded at first, and asks the kernel for nothing until it is unfolded.
 * @typedef {{element: HTMLElement, refresh: (what: "filter" | "marks") => void}} Folded
 */

const LATE = "The kernel does not answer yet; it may be busy with a cell.";
const GONE = "The kernel of this view is gone, since it was restarted or shut down; run the cell again.";
const NO_FILTER = "no filter";

/**
 * Shows the widget in an element; returns what is to be done when it goes.
 * @param {{model: Model, el: HTMLElement}} shown
 * @returns {Promise<() => void>}
 */
async function render({ model, el }) {
  const root = make("div", "viewer explorer");
  // JupyterLab would take keys for its own commands, such as "d d", which deletes the cell. What keeps it from doing so has
  // to be an attribute of the very element that has the focus: its selectors look for that before they look further up.
  root.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) target.dataset.lmSuppressShortcuts = "true";
  });
  const kernel = connectTo(model, hear, (late) => marking.showProblem(late ? LATE : ""), () => marking.showProblem(GONE));
  const marking = makeMarking((tag) => kernel.tell("tag", { tag }), () => kernel.tell("mark", { object: null }), (on) => kernel.tell("only", { on }));
  const place = make("div");
  root.append(marking.element, place);
  el.append(root);
  /** @type {(KernelSource & {viewer: Viewer, parts: Folded[], markPatches: (keys: Set<string>) => void}) | null} */
  let opened = null;
  /** @type {string | null} */
  let clicked = null; // the key of the object that was clicked last
  /** @type {{passes: Passes, frames: Int32Array[]} | null} */
  let filtered = null;
  let appliedFor = NO_FILTER; // the submissions whose frames the steps of the viewer go to, as text
  // JupyterLab hides everything while it changes its theme, so that there is nothing to draw on before the next frame.
  const themes = new MutationObserver(() => { requestAnimationFrame(() => setTimeout(() => { opened?.viewer.go({}); })); });
  themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  open();
  return () => {
    kernel.close();
    themes.disconnect();
  };

  async function open() {
    try {
      const known = await kernelSource(kernel);
      const { source, columns } = known;
      const viewer = createViewer(place, source, {
        onChange: ({ submissions }) => { visitPassing(submissions); },
        onSelect(selected, more) {
          clicked = selected && keyOfObject(selected);
          kernel.tell("mark", { object: selected && [selected.side, selected.submission, selected.row], more });
        },
      });
      const list = makePatchList(kernel, source, columns, {
        open: ({ frame, object }, more, marks) => {
          clicked = keyOfObject(object);
          viewer.go({ frame, selected: object });
          if (marks) kernel.tell("mark", { object: [object.side, object.submission, object.row], more });
        },
        passes: () => filtered?.passes ?? null,
      });
      const parts = [
        folded("Patches", list, marking.showProblem),
        folded("Counts", makeCounts(kernel, source.about.submissions, columns), marking.showProblem),
        ...(columns.numbers.length ? [folded("Scatter", makeScatter(kernel, columns), marking.showProblem)] : []),
      ];
      root.append(...parts.map(({ element }) => element));
      opened = { ...known, viewer, parts, markPatches: list.mark };
      kernel.tell("news");
    } catch (error) {
      marking.showProblem(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {Message} message */
  function hear(message) {
    if (!opened) return; // the news are asked for later
    const { content } = message;
    if (content.error) marking.showProblem(content.error); // of what has no answer, such as marks
    if (content.tell === "filter") showFilter(message);
    if (content.tell === "marked") showMarks(opened.viewer, content);
  }

  /** @param {Viewer} viewer @param {import("./marking.js").Marked & {objects: [Side, number, number][]}} content */
  function showMarks(viewer, content) {
    marking.showMarked(content);
    opened?.parts.forEach(({ refresh }) => refresh("marks"));
    const objects = content.objects.map(([side, submission, row]) => ({ side, submission, row }));
    viewer.mark(objects);
    opened?.markPatches(new Set(objects.map(keyOfObject)));
    const { selected } = viewer.state();
    const isClicked = selected && keyOfObject(selected) === clicked;
    if (isClicked && !objects.some((object) => keyOfObject(object) === clicked)) viewer.go({ selected: null }); // its mark was taken away
  }

  /** @param {Message} message */
  async function showFilter(message) {
    if (!opened) return;
    const { viewer, sizes } = opened;
    const { text, n_rows: nRows } = message.content;
    if (text === null && !filtered) return;
    filtered = text === null ? null : readPassing(message, sizes);
    appliedFor = ""; // what follows is another filter, so it is applied in any case
    marking.showFilter(text === null ? "" : `Filter: ${text} (${counted(nRows, "row")} ${nRows === 1 ? "passes" : "pass"})`);
    const visited = await visitPassing(viewer.state().submissions);
    if (visited?.length) await viewer.go({ frame: visited[0] });
    opened.parts.forEach(({ refresh }) => refresh("filter"));
  }

  /**
   * Lets steps go to the frames in which something of a shown submission passes the filter, and returns these frames;
   * null where nothing changes.
   * @param {number[]} submissions
   * @returns {Promise<Int32Array | null>}
   */
  async function visitPassing(submissions) {
    const now = filtered ? submissions.join() : NO_FILTER;
    if (!opened || now === appliedFor) return null;
    appliedFor = now;
    const frames = filtered && new Set(submissions.flatMap((i) => [...(filtered?.frames[i] ?? [])]));
    const visited = frames && Int32Array.from(frames).sort();
    await opened.viewer.filter(filtered?.passes ?? null, visited);
    return visited;
  }
}

/**
 * A part under a title that unfolds it.
 * @param {string} title
 * @param {Part} part
 * @param {(problem: string) => void} tell an empty text where there is none
 * @returns {Folded}
 */
function folded(title, { element, show, follows }, tell) {
  const ask = () => { show().then(() => tell(""), (error) => tell(error instanceof Error ? error.message : String(error))); };
  const details = make("details", "explorer-part");
  details.append(make("summary", "", title), element);
  details.addEventListener("toggle", () => { if (details.open) ask(); });
  return { element: details, refresh: (what) => { if (details.open && follows(what)) ask(); } };
}

export default { render };
