// The table of contents: marks the section in view, and is closed on narrow screens until it is asked for.

const WIDE = "(min-width: 75rem)";

/** How far down the screen a section has come when it is the one in view, as a share of its height. */
const READ_AT = 0.3;

/** Sets up the table of contents, and opens what can be opened while the page is printed. */
export function setUpContents() {
  const details = document.querySelector("nav details");
  if (!(details instanceof HTMLDetailsElement)) return;
  const links = [...details.querySelectorAll("a")];
  const places = links.map((link) => document.getElementById(link.hash.slice(1)));
  const wide = matchMedia(WIDE);
  const summary = details.querySelector("summary");
  const fit = () => {
    details.open = wide.matches;
    if (summary) summary.tabIndex = wide.matches ? -1 : 0; // on wide screens it stays open
  };
  fit();
  wide.addEventListener("change", fit);
  details.addEventListener("click", (event) => {
    if (event.target instanceof HTMLAnchorElement) fit();
  });
  let isWaiting = false;
  const mark = () => {
    isWaiting = false;
    const current = inView(places.map((place) => place?.getBoundingClientRect().top ?? Infinity));
    links.forEach((link, position) => {
      if (position === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    const here = details.querySelector("summary span");
    if (here) here.textContent = `: ${links[current]?.textContent ?? ""}`;
  };
  addEventListener("scroll", () => {
    if (!isWaiting) requestAnimationFrame(mark);
    isWaiting = true;
  }, { passive: true });
  mark();
  openForPrint();
}

/**
 * The last of these places that has come far enough up; at the end of the page the last one.
 * @param {number[]} tops
 * @returns {number}
 */
function inView(tops) {
  const { scrollHeight, scrollTop } = document.documentElement;
  if (scrollTop > 0 && scrollTop + innerHeight >= scrollHeight - 2) return tops.length - 1;
  return Math.max(tops.findLastIndex((top) => top <= innerHeight * READ_AT), 0);
}

/** Opens all details while the page is printed, so that paper has what a click would show. */
function openForPrint() {
  /** @type {HTMLDetailsElement[]} */
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [.../** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details:not([open])"))];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });
}
