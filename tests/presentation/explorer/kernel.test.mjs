import assert from "node:assert/strict";
import { test } from "node:test";

import { connectTo, kernelSource, readPassing } from "../../../spotgeo_frames/presentation/explorer/assets/kernel.js";
import { changedTruths } from "../../../spotgeo_frames/presentation/viewer/assets/gains.js";
import { objectAt } from "../../../spotgeo_frames/presentation/viewer/assets/lives.js";
import { nextEvent } from "../../../spotgeo_frames/presentation/viewer/assets/steps.js";
import { Packer, table, tracks } from "../viewer/packed.mjs";

// A model of a widget: `answers` has a function for each thing that is asked, which gives a message and its arrays.
function modelOf(answers) {
  const sent = [];
  const listeners = new Map();
  const tell = (name, ...said) => {
    for (const [listen, of] of listeners) if (of === name) listen(...said);
  };
  const hear = (content, arrays = []) => tell("msg:custom", content, arrays.map((buffer) => new DataView(buffer)));
  return {
    sent,
    hear,
    tell,
    listeners,
    send(message) {
      sent.push(message);
      const answer = answers[message.ask]?.(message);
      if (answer) queueMicrotask(() => hear({ id: message.id, ...answer[0] }, answer[1]));
    },
    on: (name, listen) => listeners.set(listen, name),
    off: (_, listen) => listeners.delete(listen),
  };
}

const connected = (model, told = () => {}, lost = () => {}) => connectTo(model, told, () => {}, lost);

test("it is said when the kernel is gone", () => {
  const model = modelOf({});
  let times = 0;
  const kernel = connected(model, undefined, () => { times += 1; });
  model.tell("comm_live_update");
  assert.equal(times, 1);
  kernel.close();
  assert.equal(model.listeners.size, 0);
});

/** Three chunks, each with the two sequences of `tracks`, so there are six sequences and twelve frames. */
function outline() {
  const packer = new Packer();
  const parts = [0, 1, 2, 3, 4, 5];
  const sequences = table(6,
    packer.texts("name", parts.map((part) => `s${part}`)),
    ...["left", "right", "top", "bottom"].map((side, i) => packer.integers(side, parts.map(() => 100 * (i % 2)))),
    packer.integers("missed", [1, 0, 2, 0, 3, 0]),
    packer.integers("wrong", [0, 0, 0, 1000, 0, 0]),
    packer.integers("chunk", [0, 0, 1, 1, 2, 2]),
  );
  const frames = table(12,
    packer.integers("sequence", [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5]),
    packer.integers("frame", [1, 2, 3, 1, 1, 2, 3, 1, 1, 2, 3, 1]),
    packer.integers("frame_n_truth_1", [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]),
    packer.integers("frame_n_predicted_1", [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
  );
  const { about } = tracks();
  const own = { sequences, frames, truth: table(0), submissions: [] };
  const sizes = { truth: 18, predicted: [12, 12] };
  return [{ about: { ...about, ...own }, names: ["all", "some"], sizes, pictures: false }, [packer.buffer]];
}

function chunk({ chunk: number }) {
  const { about, buffer } = tracks();
  return [{ about, first: { stretch: 2 * number, frame: 4 * number, truth: 6 * number, predicted: [4 * number, 4 * number] } }, [buffer]];
}

const opened = async (more = {}) => {
  const model = modelOf({ outline, chunk, ...more });
  const { source, sizes } = await kernelSource(connected(model));
  return { model, source, sizes };
};

test("an outline has all frames before any chunk is there", async () => {
  const { model, source } = await opened();
  assert.deepEqual(model.sent.map(({ ask }) => ask), ["outline"]);
  assert.deepEqual([source.frames.n, [...source.frames.first]], [12, [0, 3, 4, 7, 8, 11, 12]]);
  assert.deepEqual(source.about.submissions, ["all", "some"]);
  assert.equal(source.about.sequences[3].label, "s3: 0 missed, 1,000 false");
  assert.deepEqual(source.about.sequences[0].extent, [0, 100, 0, 100]);
});

test("rows of a chunk have their numbers among all rows", async () => {
  const { source } = await opened();
  const rows = await source.rows(4 + 2, 0); // the third frame of the second chunk
  assert.deepEqual([rows.frame, rows.truth.first, rows.truth.n, rows.predicted.first, rows.pairs.first], [6, 6 + 4, 2, 4 + 2, 6 + 4]);
  assert.equal(objectAt(rows.predicted, 0), "11");
  const lives = await source.lives(2, 0);
  assert.deepEqual([...lives.row], [6, 8, 10, 7, 9, 11]);
  assert.deepEqual(await source.counts(5, 0), { found: 0, missed: 2, wrong: 1, ignored: 0 });
  assert.deepEqual([...changedTruths([rows, await source.rows(6, 1)])], [[6 + 5, "gained"]]);
});

test("what one submission gains against another is asked of the chunk", async () => {
  const { source } = await opened();
  assert.ok(source.gains(2, 0, 1) instanceof Promise);
  assert.deepEqual(await source.gains(2, 0, 1), [1, 2, 1].map((gained) => ({ gained, lost: 0 })));
  assert.deepEqual(await source.gains(3, 0, 1), [null]);
  assert.equal(await nextEvent(source, [0, 1], "change", 2, 1, () => true), 4, "in the next chunk");
});

test("a chunk is asked for once, and what is here is answered at once", async () => {
  const { model, source } = await opened();
  await Promise.all([source.rows(0, 0), source.rows(1, 1), source.lives(0, 0), source.counts(3, 0)]);
  assert.equal(model.sent.filter(({ ask }) => ask === "chunk").length, 1);
  assert.ok(!(source.rows(2, 0) instanceof Promise));
  assert.ok(source.rows(9, 0) instanceof Promise);
});

test("a chunk that could not be sent is asked for again", async () => {
  let fails = true;
  const { source } = await opened({ chunk: (message) => (fails ? [{ error: "no memory" }] : chunk(message)) });
  await assert.rejects(source.rows(0, 0), /no memory/);
  fails = false;
  assert.equal((await source.rows(0, 0)).truth.n, 2);
});

test("a note says what was filtered out of which table", async () => {
  const { source } = await opened();
  assert.equal(source.note(5, [0, 1]), "; some: 2 truths and 1 prediction of this frame were filtered out of the table");
  assert.equal(source.note(5, [0]), "");
  assert.equal(source.note(4, [0, 1]), "");
});

test("pictures are asked for one at a time, and a missing one says why", async () => {
  const picture = ({ frame }) => (frame ? [{ problem: "there is no such file" }] : [{ left: 0, right: 9, top: 0, bottom: 5 }, [new ArrayBuffer(8)]]);
  const asked = await opened({ outline: () => { const [content, buffers] = outline(); return [{ ...content, pictures: true }, buffers]; }, picture });
  const found = await asked.source.picture(0);
  assert.deepEqual([found.url.startsWith("blob:"), found.right], [true, 9]);
  assert.equal(await asked.source.picture(1), null);
  assert.equal(asked.source.note(1, [0]), "; there is no such file");
  URL.revokeObjectURL(found.url);
});

test("answers go to who asked, and what is told to all who listen", async () => {
  const model = modelOf({});
  const told = [];
  const [one, other] = [connected(model, ({ content }) => told.push(content.text)), connected(model)];
  const answers = [one.ask("a"), other.ask("b")];
  for (const { id, ask } of [...model.sent].reverse()) model.hear({ id, ask });
  assert.deepEqual((await Promise.all(answers)).map(({ content }) => content.ask), ["a", "b"]);
  model.hear({ tell: "filter", text: "x > 1" });
  one.close();
  model.hear({ tell: "filter", text: "x > 2" });
  assert.deepEqual(told, ["x > 1"]);
});

test("what passes comes as bits, the highest of each byte first", () => {
  const bits = (...bytes) => Uint8Array.from(bytes).buffer;
  const buffers = [bits(0b10100000, 0b01000000), bits(0b01000000), Int32Array.of(3, 7).buffer];
  const { passes, frames } = readPassing({ content: {}, buffers }, { truth: 10, predicted: [2] });
  assert.deepEqual([...passes.truth[0]], [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
  assert.deepEqual([...passes.predicted[0]], [0, 1]);
  assert.deepEqual([...frames[0]], [3, 7]);
});
