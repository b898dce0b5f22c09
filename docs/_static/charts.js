// Draws the charts of a page, in the colours of the page, from the descriptions that the build wrote into it.

/** The charts that are drawn now, which are removed before they are drawn anew. */
let drawn = [];

async function draw() {
  for (const { view } of drawn) view.finalize();
  drawn = [];
  const theme = document.documentElement.dataset.theme === "dark" ? "dark" : undefined;
  for (const place of document.querySelectorAll(".vega-chart")) {
    const description = JSON.parse(place.querySelector("script").textContent);
    const options = { theme, actions: false, config: { background: "transparent" } };
    drawn.push(await window.vegaEmbed(place.querySelector("div"), description, options));
  }
}

// The library is large, so that only pages with charts load it.
if (document.querySelector(".vega-chart")) {
  const library = document.createElement("script");
  library.src = new URL("vega.js", document.currentScript.src).href;
  library.addEventListener("load", () => {
    let order = draw();
    new MutationObserver(() => {
      order = order.then(draw); // one after the other
    }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  });
  document.head.append(library);
}
