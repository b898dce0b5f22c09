// Sorts tables, draws charts and steps through frames. All text is inserted as text, never as HTML.
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
  const numberOf = (text) => parseFloat(text.replaceAll(",", "").replace("inf", "Infinity")); // NaN for a dash

  // Sorts rows by a column, null last; equal rows keep their order.
  function ordered({ rows, kinds, positions }, column, descending) {
    const kind = kinds[column];
    const sign = descending ? -1 : 1;
    const places = rows.map((_, place) => place);
    const values = kind === "position"
      ? positions[column]
      : rows.map((row) => (kind === "number" ? numberOf(row[column]) : row[column]));
    const isNull = (value) => value === DASH || Number.isNaN(value);
    const compare = kind === "text" ? collator.compare : (a, b) => (a < b ? -1 : a > b);
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
      if (jump) cell.title = "This sequence is not in the frame browser of this page";
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
      // The buttons are disabled, not hidden, so that they keep the focus.
      for (const button of more.querySelectorAll("button")) button.setAttribute("aria-disabled", n === rows.length);
    }

    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const descending = heading.ariaSort === "ascending" || (kinds[column] === "number" && !heading.ariaSort);
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        state.order = ordered(data.tables[table.dataset.table], column, descending);
        draw();
      });
    });
    if (more) {
      const [next, all] = more.querySelectorAll("button");
      next.textContent = `Show ${MORE} more`;
      all.textContent = "Show all";
      next.addEventListener("click", () => { state.shown = Math.min(state.shown + MORE, rows.length); draw(); });
      all.addEventListener("click", () => { state.shown = rows.length; draw(); });
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
    // To a screen reader a chart is one picture with a description; the tables of the page have its numbers.
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
    const state = { submission: 0, sequence: 0, frame: 0, marks: true, view: null };
    const positions = new Map(held.sequences.map((name, position) => [name, position]));
    const pictures = Object.keys(held.pictures.uris).length > 0;
    const OUTCOMES = ["found", "missed", "false", "empty frame"];

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

    // x, y, and of a box w, h; nothing where the row has no object of this side.
    function geometry(side, row) {
      const values = ["x", "y", "w", "h"].map((name) => rows[`${side}_${name}`]?.[row] ?? null);
      return values.filter((value) => value !== null);
    }

    function coordinates(side, row) {
      return geometry(side, row).map((value) => value.toFixed(held.decimals)).join(", ") || DASH;
    }

    function listRows(first, last) {
      const lines = [];
      for (let row = first; row < last; row++) {
        const line = element("tr");
        const measure = rows.measure[row];
        const score = rows.score?.[row] ?? null;
        line.append(
          element("th", OUTCOMES[rows.outcome[row]]),
          element("td", rows.kind[row] ?? DASH),
          element("td", rows.truth_object[row] ?? DASH),
          element("td", rows.predicted_object[row] ?? DASH),
          element("td", measure === null ? DASH : measure.toFixed(held.measureDecimals), "number"),
          ...(rows.score ? [element("td", score === null ? DASH : score.toPrecision(3), "number")] : []),
          element("td", coordinates("truth", row)),
          element("td", coordinates("predicted", row)),
        );
        line.firstChild.scope = "row";
        lines.push(line);
      }
      byId("frame-rows").tBodies[0].replaceChildren(...lines);
    }

    // A box has its mark at its centre.
    function marksOf(first, last) {
      const [marks, links, boxes, joints] = [[], [], [], []];
      for (let row = first; row < last; row++) {
        const hit = rows.outcome[row] === 0;
        const measure = rows.measure[row]?.toFixed(held.measureDecimals) ?? DASH;
        const shared = { kind: rows.kind[row] ?? DASH, measure };
        const ends = [];
        const sides = [
          ["truth", hit ? "found truth" : "missed truth"],
          ["predicted", hit ? "right prediction" : "false prediction"],
        ];
        for (const [side, mark] of sides) {
          const [x, y, w, h] = geometry(side, row);
          if (x === undefined) continue;
          const centre = { x: x + (w ?? 0) / 2, y: y + (h ?? 0) / 2 };
          ends.push(centre);
          marks.push({ ...shared, mark, ...centre, object: rows[`${side}_object`][row] });
          if (w !== undefined) boxes.push({ mark, x, y, x2: x + w, y2: y + h });
          const places = rows[`${side}_joints`]?.[row] ?? [];
          for (let i = 0; i < places.length; i += 2) joints.push({ mark, x: places[i], y: places[i + 1] });
        }
        if (hit) links.push({ ...ends[0], x2: ends[1].x, y2: ends[1].y });
      }
      return { marks, links, boxes, joints };
    }

    function pictureOf(frame) {
      const url = held.pictures.uris[state.sequence]?.[frame];
      return url ? [{ url, ...held.pictures.box }] : [];
    }

    async function show() {
      if (!frames().length) { // a submission may lack this sequence, or all sequences
        byId("frame-status").textContent = `${held.submissions[state.submission].name}: there are no frames`;
        byId("submission").value = state.submission;
        listRows(0, 0);
        return;
      }
      const [frame, first, last, found, missed, wrong] = current();
      const n = frames().length;
      const name = held.sequences[state.sequence];
      const whose = held.submissions.length > 1 ? `${held.submissions[state.submission].name}, ` : "";
      const tally = `${found} found, ${missed} missed, ${wrong} false`;
      const picture = pictures && !pictureOf(frame).length ? " (no picture)" : "";
      const place = `sequence ${name}, frame ${frame} (${state.frame + 1} of ${n})`;
      byId("frame-status").textContent = `${whose}${place}: ${tally}${picture}`;
      byId("sequence").value = state.sequence;
      byId("submission").value = state.submission;
      byId("previous-frame").setAttribute("aria-disabled", state.frame === 0);
      byId("next-frame").setAttribute("aria-disabled", state.frame >= n - 1);
      const rank = order().indexOf(state.sequence);
      byId("previous-sequence").setAttribute("aria-disabled", rank === 0);
      byId("next-sequence").setAttribute("aria-disabled", rank === order().length - 1);
      listRows(first, last);
      if (!state.view) return;
      const drawn = state.marks ? marksOf(first, last) : { marks: [], links: [], boxes: [], joints: [] };
      for (const [key, values] of Object.entries({ picture: pictureOf(frame), ...drawn })) {
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
      if (!frames().length) Object.assign(state, { sequence: order()[0] ?? state.sequence, frame: 0 });
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
      byId("worst").addEventListener("click", () => go({ sequence: order()[0] ?? state.sequence, frame: 0 }));
      byId("previous-sequence").addEventListener("click", () => step(-1));
      byId("next-sequence").addEventListener("click", () => step(1));
      byId("previous-frame").addEventListener("click", () => go({ frame: state.frame - 1 }));
      byId("next-frame").addEventListener("click", () => go({ frame: state.frame + 1 }));
      byId("frames").addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step || event.target.closest("select, input, .scroll")) return;
        event.preventDefault();
        go({ frame: state.frame + step });
      });
      byId("show-marks").hidden = !pictures;
      byId("show-marks").addEventListener("change", (event) => go({ marks: event.target.checked }));
      listSequences();
      go({ sequence: order()[0] ?? 0, frame: 0 });
    }

    return {
      setUp,
      holds: (name) => positions.has(name),
      jump(name, submission) {
        const position = held.submissions.findIndex((entry) => entry.name === submission);
        if (position >= 0 && position !== state.submission) pick(position);
        go({ sequence: positions.get(name), frame: 0 });
        byId("frames-heading").focus();
        byId("frames").scrollIntoView();
      },
      async draw() {
        state.view = await drawChart(byId("frame-chart"), held.spec);
        await show();
      },
    };
  })();

  // Lets the reader choose the submission that the charts of places and distances show.
  function setUpPicks(views) {
    const select = document.getElementById("picked");
    if (!select) return;
    select.replaceChildren(...data.browser.submissions.map(({ name }, number) => {
      const option = element("option", name);
      option.value = number;
      return option;
    }));
    select.addEventListener("change", () => {
      for (const view of views) view.signal("picked", data.picks[select.value]).runAsync();
    });
  }

  document.querySelectorAll("table[data-table]").forEach(setUpTable);
  browser.setUp();
  (async () => {
    const picking = [];
    for (const place of document.querySelectorAll("[data-chart]")) {
      try {
        const view = await drawChart(place, data.charts[place.dataset.chart]);
        if (place.closest("#places")) picking.push(view);
      } catch (error) { // the other charts are drawn nevertheless
        place.textContent = "This chart cannot be drawn.";
        console.error(error);
      }
    }
    setUpPicks(picking);
    await browser.draw();
    document.documentElement.dataset.drawn = "yes"; // programs that wait for all charts read this
  })();
})();
