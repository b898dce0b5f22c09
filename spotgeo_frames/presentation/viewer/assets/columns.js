// Reads a view, which is tables packed by Python: a description in JSON, and the bytes of all columns.

/**
 * A column of numbers, null as NaN, or of text as positions in `values`, null as -1.
 * `isSingle` says that numbers were rounded to float32.
 * @typedef {{name: string, numbers: Float64Array, decimals?: number, isSingle?: boolean}} NumberColumn
 * @typedef {{name: string, codes: Int32Array, values: string[]}} TextColumn
 * @typedef {NumberColumn | TextColumn} Column
 *
 * The run lengths of masks, which no table shows: how many characters each row has from where on; 0 where a row has no
 * mask, -1 where it has one that there was no room for.
 * @typedef {{text: Uint8Array, starts: Int32Array, lengths: Int32Array}} Masks
 * @typedef {{n: number, columns: Map<string, Column>, masks?: Masks}} Table
 *
 * As packed: see view.py.
 * @typedef {{name: string, form: string, offset: number, decimals?: number, values?: string[]}} PackedColumn
 * @typedef {{n: number, columns: PackedColumn[], masks?: {lengths: PackedColumn, text: number}}} PackedTable
 *
 * @typedef {"points" | "boxes" | "poses" | "joints"} Kind
 * @typedef {object} Facts what a view says of itself, beside its tables
 * @property {Kind} kind
 * @property {boolean} identities whether objects keep their name through a sequence
 * @property {{title: string, decimals: number, needed?: number}} measure of pairs: their distance or similarity, and what a pair needs
 * @property {number} decimals of coordinates
 * @property {string[]} joints
 * @property {[number, number][]} bones pairs of positions in `joints`
 * @property {string[]} [columns] that tell where rows are, in place of x, y, w and h
 * @property {boolean} [filled] whether rows are drawn as masks, with a fill
 * @property {string} [angle] the column of the degrees by which boxes are turned about their middles, from x towards y
 *
 * @typedef {{name: string, frames: Table, predicted: Table, pairs: Table}} Submission
 * @typedef {{sequences: Table, frames: Table, truth: Table, submissions: Submission[]}} ViewTables
 * @typedef {Facts & ViewTables} View
 * @typedef {{name: string, frames: PackedTable, predicted: PackedTable, pairs: PackedTable}} PackedSubmission
 * @typedef {{sequences: PackedTable, frames: PackedTable, truth: PackedTable, submissions: PackedSubmission[]}} PackedTables
 * @typedef {Facts & PackedTables} About
 */

/**
 * The form of each packed array: how to read it, its bytes for each value, and the integer that stands for null.
 * @type {Map<string, {read: (buffer: ArrayBuffer) => ArrayLike<number>, width: number, none: number}>}
 */
const FORMS = new Map([
  ["int8", { read: (buffer) => new Int8Array(buffer), width: 1, none: -(2 ** 7) }],
  ["int16", { read: (buffer) => new Int16Array(buffer), width: 2, none: -(2 ** 15) }],
  ["int32", { read: (buffer) => new Int32Array(buffer), width: 4, none: -(2 ** 31) }],
  ["float32", { read: (buffer) => new Float32Array(buffer), width: 4, none: NaN }],
  ["float64", { read: (buffer) => new Float64Array(buffer), width: 8, none: NaN }],
]);

/** How many digits of a number are shown where the column does not say how many decimals it has. */
const DIGITS = 6;

/**
 * Decodes base64 and inflates zlib.
 * @param {string} base64
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflated(base64) {
  const letters = atob(base64);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/**
 * Makes the tables of a view from its description and its inflated bytes.
 * @param {About} about
 * @param {ArrayBuffer} buffer
 * @returns {View}
 */
export function readView(about, buffer) {
  const table = (/** @type {PackedTable} */ packed) => readTable(packed, buffer);
  return {
    ...about,
    sequences: table(about.sequences),
    frames: table(about.frames),
    truth: table(about.truth),
    submissions: about.submissions.map(({ name, frames, predicted, pairs }) => ({
      name,
      frames: table(frames),
      predicted: table(predicted),
      pairs: table(pairs),
    })),
  };
}

/**
 * @param {PackedTable} packed
 * @param {ArrayBuffer} buffer
 * @returns {Table}
 */
function readTable({ n, columns, masks }, buffer) {
  const table = { n, columns: new Map(columns.map((column) => [column.name, readColumn(column, n, buffer)])) };
  if (!masks) return table;
  const lengths = readColumn(masks.lengths, n, buffer);
  return { ...table, masks: readMasks("numbers" in lengths ? lengths.numbers : [], masks.text, buffer) };
}

/**
 * @param {ArrayLike<number>} lengths
 * @param {number} offset of the text
 * @param {ArrayBuffer} buffer
 * @returns {Masks}
 */
function readMasks(lengths, offset, buffer) {
  const starts = new Int32Array(lengths.length);
  let total = 0;
  for (let i = 0; i < lengths.length; total += Math.max(lengths[i], 0), i++) starts[i] = total;
  return { text: new Uint8Array(buffer, offset, total), starts, lengths: Int32Array.from(lengths) };
}

/**
 * @param {PackedColumn} packed
 * @param {number} n
 * @param {ArrayBuffer} buffer
 * @returns {Column}
 */
function readColumn({ name, form, offset, decimals, values }, n, buffer) {
  const { read, width, none } = known(FORMS.get(form));
  const stored = read(joinedPlanes(buffer, offset, n, width));
  if (values) return { name, codes: new Int32Array(stored), values };
  const numbers = new Float64Array(stored);
  if (Number.isNaN(none)) return { name, numbers, decimals, isSingle: form === "float32" };
  const unit = 10 ** (decimals ?? 0);
  for (let i = 0; i < n; i++) numbers[i] = stored[i] === none ? NaN : stored[i] / unit;
  return { name, numbers, decimals };
}

/**
 * Joins the bytes of values that are stored as all first bytes, then all second bytes, and so on.
 * @param {ArrayBuffer} buffer
 * @param {number} offset
 * @param {number} n
 * @param {number} width
 * @returns {ArrayBuffer}
 */
function joinedPlanes(buffer, offset, n, width) {
  const joined = new Uint8Array(n * width);
  for (let plane = 0; plane < width; plane++) {
    const bytes = new Uint8Array(buffer, offset + plane * n, n);
    for (let i = 0; i < n; i++) joined[i * width + plane] = bytes[i];
  }
  return joined.buffer;
}

/**
 * A value that is surely there.
 * @template T
 * @param {T | undefined | null} value
 * @returns {T}
 */
export function known(value) {
  if (value === undefined || value === null) throw new Error("the view's data lacks a value");
  return value;
}

/**
 * The numbers of a column; where the table does not have it, of nulls.
 * @param {Table} table
 * @param {string} name
 * @returns {Float64Array}
 */
export function numbersOf(table, name) {
  const column = table.columns.get(name);
  return column && "numbers" in column ? column.numbers : new Float64Array(table.n).fill(NaN);
}

/**
 * A value as text; null where there is none.
 * @param {Column | undefined} column
 * @param {number} row
 * @returns {string | null}
 */
export function textAt(column, row) {
  if (!column) return null;
  if ("codes" in column) return column.codes[row] < 0 ? null : column.values[column.codes[row]];
  const value = column.numbers[row];
  if (Number.isNaN(value)) return null;
  return column.decimals === undefined ? String(Number(value.toPrecision(DIGITS))) : value.toFixed(column.decimals);
}

/**
 * The rows whose text is "True".
 * @param {Table} table
 * @param {string} name
 * @returns {Uint8Array}
 */
export function flagsOf(table, name) {
  const column = table.columns.get(name);
  const flags = new Uint8Array(table.n);
  if (!column || !("codes" in column)) return flags;
  const yes = column.values.indexOf("True");
  return yes < 0 ? flags : flags.map((_, row) => Number(column.codes[row] === yes));
}
