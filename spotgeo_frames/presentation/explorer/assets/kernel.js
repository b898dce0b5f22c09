// Asks the kernel: frames are sent in chunks when they are looked at, and pictures one at a time.

import { known, numbersOf, readView } from "../../viewer/assets/columns.js";
import { sourceOf } from "../../viewer/assets/source.js";
import { counted } from "../../viewer/assets/texts.js";

/**
 * @import { Table } from "../../viewer/assets/columns.js"
 * @import { FrameRows, Rows } from "../../viewer/assets/lives.js"
 * @import { Picture, Source } from "../../viewer/assets/source.js"
 * @import { Passes } from "../../viewer/assets/draw.js"
 *
 * The model of a widget, as anywidget has it.
 * @typedef {object} Model
 * @property {(message: object) => void} send
 * @property {(name: string, listen: (content: any, buffers: DataView[]) => void) => void} on
 * @property {(name: string, listen: (content: any, buffers: DataView[]) => void) => void} off
 *
 * @typedef {{content: any, buffers: ArrayBuffer[]}} Message
 *
 * @typedef {object} Kernel
 * @property {(what: string, details?: object) => Promise<Message>} ask
 * @property {(what: string, details?: object) => void} tell asks for what needs no answer
 * @property {() => void} close
 *
 * A chunk of frames, and the position of its first stretch (a sequence to the viewer), frame, truth and prediction (of each submission) among all.
 * @typedef {{source: Source, first: {stretch: number, frame: number, truth: number, predicted: number[]}}} Chunk
 *
 * @typedef {{truth: number, predicted: number[]}} Sizes counts of truths, and of the predictions of each submission
 * @typedef {{source: Source, sizes: Sizes, columns: import("./counts.js").ColumnNames}} KernelSource
 */

const CHUNKS_KEPT = 8;
const PICTURES_KEPT = 16;
const PATIENCE = 1500; // ms that an answer may take before the reader is told that it is late

/**
 * Connects to the kernel through the model of a widget. `onTell` gets what the kernel says unasked, and `onLate` whether
 * an answer has been due for long; `onLost` is called when the kernel is gone.
 * @param {Model} model
 * @param {(message: Message) => void} onTell
 * @param {(late: boolean) => void} onLate
 * @param {() => void} onLost
 * @returns {Kernel}
 */
export function connectTo(model, onTell, onLate, onLost) {
  /** @type {Map<string, {resolve: (message: Message) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  const viewId = Math.random().toString(36).slice(2); // other views of the widget hear the answers, too
  let asked = 0;
  let isGone = false;
  function gone() {
    isGone = true;
    onLost();
  }
  /** @param {any} content @param {DataView[]} views */
  function hear(content, views) {
    const buffers = (views ?? []).map(({ buffer, byteOffset, byteLength }) => /** @type {ArrayBuffer} */ (buffer.slice(byteOffset, byteOffset + byteLength)));
    if (content.tell || (content.error && content.id === null)) return onTell({ content, buffers });
    const asker = waiting.get(content.id);
    if (!asker) return;
    waiting.delete(content.id);
    onLate(false);
    if (content.error) asker.reject(new Error(content.error));
    else asker.resolve({ content, buffers });
  }
  model.on("msg:custom", hear);
  model.on("comm_live_update", gone); // what Jupyter says where a kernel was restarted or shut down
  return {
    ask(what, details = {}) {
      const id = `${viewId} ${++asked}`;
      model.send({ ask: what, id, ...details });
      setTimeout(() => { if (waiting.has(id) && !isGone) onLate(true); }, PATIENCE);
      return new Promise((resolve, reject) => { waiting.set(id, { resolve, reject }); });
    },
    tell: (what, details = {}) => model.send({ ask: what, ...details }),
    close() {
      model.off("msg:custom", hear);
      model.off("comm_live_update", gone);
    },
  };
}

/**
 * A source that asks the kernel for what it does not have.
 * @param {Kernel} kernel
 * @returns {Promise<KernelSource>}
 */
export async function kernelSource(kernel) {
  const { content, buffers: [bytes] } = await kernel.ask("outline");
  const { about, names, sizes, pictures, columns } = content;
  const view = readView(about, bytes);
  const outline = sourceOf(view);
  const { frames } = outline;
  const chunkOfSequence = numbersOf(view.sequences, "chunk");
  /** @type {Map<number, Chunk>} */
  const arrived = new Map(); // chunks that need not be waited for
  const chunks = cached(CHUNKS_KEPT, (number) => askForChunk(kernel, number).then((chunk) => {
    arrived.set(number, chunk);
    return chunk;
  }), (number) => arrived.delete(number));
  const pictureAt = cached(PICTURES_KEPT, (frame) => askForPicture(kernel, frame), (_, gone) => {
    gone.then(({ picture }) => { if (picture) URL.revokeObjectURL(picture.url); });
  });
  /** @type {Map<number, string>} */
  const problems = new Map();
  const numberOf = (/** @type {number} */ sequence) => chunkOfSequence[sequence];
  const chunkAt = (/** @type {number} */ frame) => known(arrived.get(numberOf(frames.sequence[frame])));
  // What has arrived is answered at once, so that a step needs no promise of the kernel.
  const answered = (/** @type {number} */ sequence, /** @type {(chunk: Chunk) => any} */ answer) => {
    const number = numberOf(sequence);
    const asked = chunks(number);
    const chunk = arrived.get(number);
    return chunk ? answer(chunk) : asked.then(answer);
  };
  return {
    sizes,
    columns,
    source: {
      about: { ...outline.about, submissions: names, pictures, sequences: labelled(outline, view.sequences) },
      frames,
      counts: (frame, submission) => answered(frames.sequence[frame], ({ source, first }) => source.counts(frame - first.frame, submission)),
      rows: (frame, submission) => answered(frames.sequence[frame], (chunk) => rowsAmongAll(chunk, frame, submission)),
      lives: (sequence, submission) => answered(sequence, (chunk) => livesAmongAll(chunk, sequence, submission)),
      tallies: (sequence, submission) => answered(sequence, ({ source, first }) => source.tallies(sequence - first.stretch, submission)),
      gains: (sequence, before, after) => answered(sequence, ({ source, first }) => source.gains(sequence - first.stretch, before, after)),
      columns: (frame) => chunkAt(frame).source.columns(frame - chunkAt(frame).first.frame),
      picture: (frame) => (pictures ? pictureAt(frame).then(({ picture, problem }) => {
        if (problem) problems.set(frame, problem);
        return picture;
      }) : null),
      note: (frame, submissions) => filteredOut(view.frames, frame, submissions, names) + (problems.has(frame) ? `; ${problems.get(frame)}` : ""),
    },
  };
}

/** @param {Kernel} kernel @param {number} number @returns {Promise<Chunk>} */
async function askForChunk(kernel, number) {
  const { content, buffers: [bytes] } = await kernel.ask("chunk", { chunk: number });
  return { source: sourceOf(readView(content.about, bytes)), first: content.first };
}

/** @param {Kernel} kernel @param {number} frame @returns {Promise<{picture: Picture | null, problem?: string}>} */
async function askForPicture(kernel, frame) {
  const { content: { left, right, top, bottom, problem }, buffers } = await kernel.ask("picture", { frame });
  if (problem) return { picture: null, problem };
  const url = URL.createObjectURL(new Blob(buffers, { type: "image/webp" }));
  return { picture: { url, left, right, top, bottom } };
}

/** @param {Chunk} chunk @param {number} frame @param {number} submission @returns {FrameRows} */
function rowsAmongAll({ source, first }, frame, submission) {
  const rows = /** @type {FrameRows} */ (source.rows(frame - first.frame, submission));
  const moved = (/** @type {Rows} */ own, /** @type {number} */ by) => ({ ...own, first: own.first + by });
  return {
    ...rows,
    frame,
    truth: moved(rows.truth, first.truth),
    predicted: moved(rows.predicted, first.predicted[submission]),
    pairs: moved(rows.pairs, first.truth),
  };
}

/** @param {Chunk} chunk @param {number} sequence @param {number} submission */
function livesAmongAll({ source, first }, sequence, submission) {
  const lives = /** @type {import("../../viewer/assets/lives.js").Lives} */ (source.lives(sequence - first.stretch, submission));
  return { ...lives, row: lives.row.map((row) => (row < 0 ? row : row + first.truth)) };
}

/** @param {Source} outline @param {Table} table of sequences */
function labelled({ about }, table) {
  const [missed, wrong] = ["missed", "wrong"].map((name) => numbersOf(table, name));
  const text = (/** @type {number} */ value) => value.toLocaleString("en");
  return about.sequences.map((sequence, i) => ({ ...sequence, label: `${sequence.name}: ${text(missed[i])} missed, ${text(wrong[i])} false` }));
}

/**
 * How many objects of a frame are not there since their rows were filtered out of a match table.
 * @param {Table} table of frames
 * @param {number} frame
 * @param {number[]} submissions
 * @param {string[]} names
 */
function filteredOut(table, frame, submissions, names) {
  const texts = submissions.flatMap((submission) => {
    const [truths, predictions] = ["frame_n_truth", "frame_n_predicted"].map((name) => {
      const column = table.columns.get(`${name}_${submission}`);
      return column && "numbers" in column ? column.numbers[frame] : 0;
    });
    if (!truths && !predictions) return [];
    const whose = names.length > 1 ? `${names[submission]}: ` : "";
    return [`${whose}${counted(truths, "truth")} and ${counted(predictions, "prediction")} of this frame were filtered out of the table`];
  });
  return texts.map((text) => `; ${text}`).join("");
}

/**
 * Asks for each thing once, and keeps the answers that were used last; `forget` gets each that is not kept any more.
 * @template T
 * @param {number} most how many answers are kept
 * @param {(key: number) => Promise<T>} ask
 * @param {(key: number, answer: Promise<T>) => void} forget
 * @returns {(key: number) => Promise<T>}
 */
function cached(most, ask, forget) {
  /** @type {Map<number, Promise<T>>} */
  const answers = new Map();
  return (key) => {
    const answer = answers.get(key) ?? ask(key);
    answers.delete(key);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key)); // it may be asked for again
    for (const [old, gone] of answers) {
      if (answers.size <= most) break;
      answers.delete(old);
      forget(old, gone);
    }
    return answer;
  };
}

/**
 * What passes a filter, from a message: whether each truth and prediction does, and the frames of each submission.
 * @param {Message} message
 * @param {Sizes} sizes
 * @returns {{passes: Passes, frames: Int32Array[]}}
 */
export function readPassing({ buffers }, sizes) {
  const submissions = sizes.predicted.map((n, i) => ({
    truth: unpacked(buffers[3 * i], sizes.truth),
    predicted: unpacked(buffers[3 * i + 1], n),
    frames: new Int32Array(buffers[3 * i + 2]),
  }));
  return {
    passes: { truth: submissions.map(({ truth }) => truth), predicted: submissions.map(({ predicted }) => predicted) },
    frames: submissions.map(({ frames }) => frames),
  };
}

/** @param {ArrayBuffer} buffer of bits, the highest of each byte first @param {number} n */
function unpacked(buffer, n) {
  const bytes = new Uint8Array(buffer);
  return Uint8Array.from({ length: n }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}
