// Sorts tables, draws charts and steps through frames. All text gets into the page as text, never as HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const DASH = data.dash;
  const MORE = 100;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  // Tables ------------------------------------------------------------------------------------------------------------

  const collator = new Intl.Collator("en", { numeric: true });
  const numberOf = (text) => (text === DASH ? NaN : parseFloat(text.replaceAll(",", "")));

  // The rows in the order of a column, what is null last; equal ones stay in the order in which they were given.
  function ordered(rows, column, kind, descending) {
    const sign = descending ? -1 : 1;
    const places = rows.map((_, place) => place);
    if (kind === "position") return descending ? places.reverse() : places;
    const values = rows.map((row) => (kind === "number" ? numberOf(row[column]) : row[column]));
    const isNull = (value) => value === DASH || Number.isNaN(value);
    const compare = kind === "number" ? (a, b) => a - b : collator.compare;
    return places.sort((a, b) => {
      if (isNull(values[a]) || isNull(values[b])) return isNull(values[a]) - isNull(values[b]) || a - b;
      return sign * compare(values[a], values[b]) || a - b;
    });
  }

  function cellOf(text, column, kind, jump) {
    const cell = element(column ? "td" : "th", undefined, kind);
    if (!column) cell.scope = "row";
    if (!jump || !browser.holds(text)) {
      cell.textContent = text;
      return cell;
    }
    const button = element("button", text);
    button.type = "button";
    button.title = "Show in the frame browser";
    button.addEventListener("click", jump);
    cell.append(button);
    return cell;
  }

  function setUpTable(table) {
    const { kinds, rows } = data.tables[table.dataset.table];
    const headings = [...table.querySelectorAll("thead th")];
    const more = document.querySelector(`[data-more="${table.dataset.table}"]`);
    const state = { order: rows.map((_, place) => place), shown: data.rows_shown };
    const sequences = headings.findIndex((heading) => heading.textContent === "sequence");

    function draw() {
      const lines = state.order.slice(0, state.shown).map((place) => {
        const line = element("tr");
        line.append(...rows[place].map((text, column) => {
          const submission = sequences ? rows[place][0] : undefined;
          return cellOf(text, column, kinds[column], column === sequences ? () => browser.jump(text, submission) : null);
        }));
        return line;
      });
      table.tBodies[0].replaceChildren(...lines);
      if (!more) return;
      const n = Math.min(state.shown, rows.length);
      more.firstElementChild.textContent = `${n.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
      more.querySelector("button").hidden = n === rows.length;
    }

    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const descending = heading.ariaSort === "ascending" || (kinds[column] === "number" && !heading.ariaSort);
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        state.order = ordered(rows, column, kinds[column], descending);
        state.shown = data.rows_shown;
        draw();
      });
    });
    if (more) {
      const button = more.querySelector("button");
      button.textContent = `Show ${MORE} more`;
      button.addEventListener("click", () => {
        state.shown += MORE;
        draw();
      });
    }
    if (rows.length) draw();
  }

  // Charts ------------------------------------------------------------------------------------------------------------

  // Where both axes are pixels, the height follows from the width.
  function keepRatio(view, ratio) {
    if (!ratio) return;
    const fit = () => {
      const height = Math.round(view.width() * ratio);
      if (height > 0 && Math.abs(height - view.height()) > 1) view.height(height).runAsync();
    };
    fit();
    view.addSignalListener("width", () => setTimeout(fit));
  }

  async function drawChart(place, spec) {
    const { view } = await vegaEmbed(place, spec, { actions: false, renderer: "svg", ast: true });
    keepRatio(view, spec.usermeta.ratio);
    // To a screen reader a chart is a picture with a description: the tables beside it have its numbers.
    const picture = place.querySelector("svg");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", spec.description);
    for (const part of picture.children) part.setAttribute("aria-hidden", "true");
    return view;
  }

  // The frame browser -------------------------------------------------------------------------------------------------

  const browser = (() => {
    const held = data.browser;
    const byId = (id) => document.getElementById(id);
    const rows = held.rows;
    const state = { submission: 0, sequence: 0, frame: 0, view: null };
    const positions = new Map(held.sequences.map((name, position) => [name, position]));
    const OUTCOMES = ["found", "missed", "false", "nothing is here"];

    const order = () => held.submissions[state.submission].order;
    const frames = () => held.submissions[state.submission].frames[state.sequence];
    const current = () => frames()[Math.min(state.frame, frames().length - 1)];

    function listSequences() {
      const { labels } = held.submissions[state.submission];
      const options = order().map((sequence) => {
        const option = element("option", labels[sequence]);
        option.value = sequence;
        return option;
      });
      byId("sequence").replaceChildren(...options);
    }

    function coordinates(side, row) {
      const [x, y] = [rows[`${side}_x`][row], rows[`${side}_y`][row]];
      return x === null ? DASH : `${x.toFixed(2)}, ${y.toFixed(2)}`;
    }

    function listRows(first, last) {
      const lines = [];
      for (let row = first; row < last; row++) {
        const line = element("tr");
        const distance = rows.distance[row];
        line.append(
          element("th", OUTCOMES[rows.outcome[row]]),
          element("td", rows.kind[row] ?? DASH),
          element("td", rows.truth_object[row] ?? DASH),
          element("td", rows.predicted_object[row] ?? DASH),
          element("td", distance === null ? DASH : distance.toFixed(2), "number"),
          element("td", coordinates("truth", row)),
          element("td", coordinates("predicted", row)),
        );
        line.firstChild.scope = "row";
        lines.push(line);
      }
      byId("frame-rows").tBodies[0].replaceChildren(...lines);
    }

    function marksOf(first, last) {
      const marks = [];
      const links = [];
      for (let row = first; row < last; row++) {
        const hit = rows.outcome[row] === 0;
        const shared = { kind: rows.kind[row] ?? DASH, distance: rows.distance[row] };
        const sides = [
          ["truth", hit ? "found truth" : "missed truth"],
          ["predicted", hit ? "right prediction" : "false prediction"],
        ];
        for (const [side, mark] of sides) {
          const [x, y] = [rows[`${side}_x`][row], rows[`${side}_y`][row]];
          if (x !== null) marks.push({ ...shared, mark, x, y, object: rows[`${side}_object`][row] });
        }
        if (hit) {
          links.push({
            x: rows.truth_x[row], y: rows.truth_y[row], x2: rows.predicted_x[row], y2: rows.predicted_y[row],
          });
        }
      }
      return { marks, links };
    }

    function pictureOf(frame) {
      const url = held.pictures.uris[state.sequence]?.[frame];
      return url ? [{ url, ...held.pictures.box }] : [];
    }

    async function show() {
      const [frame, first, last, found, missed, wrong] = current();
      const n = frames().length;
      const name = held.sequences[state.sequence];
      const tally = `${found} found, ${missed} missed, ${wrong} false`;
      byId("frame-status").textContent = `Sequence ${name}, frame ${frame} (${state.frame + 1} of ${n}): ${tally}`;
      byId("sequence").value = state.sequence;
      byId("submission").value = state.submission;
      byId("previous-frame").disabled = state.frame === 0;
      byId("next-frame").disabled = state.frame >= n - 1;
      const rank = order().indexOf(state.sequence);
      byId("previous-sequence").disabled = rank === 0;
      byId("next-sequence").disabled = rank === order().length - 1;
      listRows(first, last);
      if (!state.view) return;
      const { marks, links } = marksOf(first, last);
      for (const [key, values] of Object.entries({ picture: pictureOf(frame), links, marks })) {
        state.view.data(key, values);
      }
      await state.view.runAsync();
    }

    function go(change) {
      Object.assign(state, change);
      state.frame = Math.max(0, Math.min(state.frame, frames().length - 1));
      show();
    }

    function pick(submission) {
      state.submission = submission;
      listSequences();
    }

    function step(by) {
      const rank = order().indexOf(state.sequence) + by;
      if (rank >= 0 && rank < order().length) go({ sequence: order()[rank], frame: 0 });
    }

    function setUp() {
      byId("submission").replaceChildren(
        ...held.submissions.map(({ name }, number) => {
          const option = element("option", name);
          option.value = number;
          return option;
        }),
      );
      byId("submission").addEventListener("change", (event) => {
        pick(Number(event.target.value));
        go({});
      });
      byId("sequence").addEventListener("change", (event) => go({ sequence: Number(event.target.value), frame: 0 }));
      byId("worst").addEventListener("click", () => go({ sequence: order()[0], frame: 0 }));
      byId("previous-sequence").addEventListener("click", () => step(-1));
      byId("next-sequence").addEventListener("click", () => step(1));
      byId("previous-frame").addEventListener("click", () => go({ frame: state.frame - 1 }));
      byId("next-frame").addEventListener("click", () => go({ frame: state.frame + 1 }));
      listSequences();
      go({ sequence: order()[0], frame: 0 });
    }

    return {
      setUp,
      holds: (name) => positions.has(name),
      jump(name, submission) {
        const number = held.submissions.findIndex((one) => one.name === submission);
        if (number >= 0 && number !== state.submission) pick(number);
        go({ sequence: positions.get(name), frame: 0 });
        document.getElementById("frames").scrollIntoView();
      },
      async draw() {
        state.view = await drawChart(byId("frame-chart"), held.spec);
        await show();
      },
    };
  })();

  document.querySelectorAll("table[data-table]").forEach(setUpTable);
  browser.setUp();
  (async () => {
    for (const place of document.querySelectorAll("[data-chart]")) await drawChart(place, data.charts[place.dataset.chart]);
    await browser.draw();
    document.documentElement.dataset.drawn = "yes"; // for what waits until all is there
  })();
})();
