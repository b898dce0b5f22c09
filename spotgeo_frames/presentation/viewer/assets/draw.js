// Draws frames on a canvas. Nothing here knows the page around it.

import { cornersAround, strokeChange } from "./corners.js";
import { closer, fitted, pathsOf, shapesOf, skeletonsOf, surroundings } from "./geometry.js";
import { placedLabels } from "./labels.js";
import { FALSE, FOUND, IGNORED, MISSED, RIGHT } from "./marks.js";
import { identityColor, palettesOf } from "./palette.js";
import { addLine, boundsOf, PALE, penOf, RADIUS, strokeBones, strokeHalo, strokeShape } from "./strokes.js";

/**
 * @import { Change } from "./gains.js"
 * @import { Camera, Shape, Skeleton, Size } from "./geometry.js"
 * @import { Label, Wanted } from "./labels.js"
 * @import { Palette } from "./palette.js"
 * @import { FrameRows, Side } from "./lives.js"
 * @import { Extent, Picture, Source, SourceFacts } from "./source.js"
 * @import { Pen, Projection } from "./strokes.js"
 *
 * @typedef {{truth: Uint8Array[], predicted: Uint8Array[]}} Passes 1 where a row passes, for each submission
 * @typedef {"outcome" | "identity" | "submission"} Coloring what the colours tell
 * @typedef {{image: CanvasImageSource, picture: Picture}} LoadedPicture
 *
 * @typedef {object} Layer what is drawn of one submission
 * @property {Shape[]} shapes in the order in which they are drawn
 * @property {Skeleton[]} skeletons
 * @property {Link[]} links of matched pairs
 * @property {{side: Side, name: string, path: number[]}[]} trails
 * @property {number} submission
 * @property {boolean} present
 *
 * @typedef {{from: Shape, to: Shape}} Link
 *
 * @typedef {object} Look how layers are drawn
 * @property {Palette} palette
 * @property {Coloring} coloring
 * @property {Passes | null} passes
 * @property {SourceFacts} about
 * @property {(shape: Shape) => Label | null} labelOf
 * @property {(shape: Shape) => "selected" | "hovered" | null} emphasis
 * @property {(shape: Shape) => Change | null} [changeOf] what became of a truth, or of that of a prediction, where changes are marked
 */

const SHORTEST = 2; // px of a line that joins a pair
const RING = 3.5; // px between the outlines of a truth that several submissions missed

/** In which order marks are drawn: what was missed lies above all, and what was found above any flood of false alarms. */
const DRAWN = [IGNORED, FALSE, FOUND, RIGHT, MISSED];
const FONT = "600 11px system-ui, sans-serif";

/**
 * What is drawn of a frame of one submission, and of the frames before it.
 * @param {FrameRows} rows
 * @param {FrameRows[]} before the frames of the trails, oldest first
 * @param {SourceFacts} about
 * @returns {Layer}
 */
export function layerOf(rows, before, about) {
  const truth = shapesOf(rows, "truth", about);
  const predicted = shapesOf(rows, "predicted", about);
  const byRow = new Map(predicted.map((shape) => [shape.row, shape]));
  const links = truth.flatMap((from) => {
    const partner = rows.pair[from.row - rows.truth.first];
    const to = partner < 0 ? undefined : byRow.get(rows.predicted.first + partner);
    return to ? [{ from, to }] : [];
  });
  const trails = (/** @type {Side} */ side) => {
    if (!before.length) return [];
    const paths = pathsOf([...before, rows].map((frame) => shapesOf(frame, side, about)));
    return [...paths].map(([name, path]) => ({ side, name, path }));
  };
  return {
    shapes: [...truth, ...predicted].sort((a, b) => DRAWN.indexOf(a.mark) - DRAWN.indexOf(b.mark)),
    skeletons: [...skeletonsOf(truth, rows.truth, about), ...skeletonsOf(predicted, rows.predicted, about)],
    links,
    trails: [...trails("truth"), ...trails("predicted")],
    submission: rows.submission,
    present: rows.present,
  };
}

/**
 * Draws the picture and the layers; the first layer's truths stand for those of all.
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Camera} camera
 * @param {LoadedPicture | null} loaded
 * @param {Layer[]} layers
 * @param {Look} look
 */
export function drawFrame(context, size, camera, loaded, layers, look) {
  context.clearRect(0, 0, size.width, size.height);
  /** @type {Projection} */
  const project = (x, y) => [
    (x - camera.x) * camera.scale + size.width / 2,
    (y - camera.y) * camera.scale + size.height / 2,
  ];
  if (loaded) drawPicture(context, project, loaded);
  const pen = penOf(context, look.palette);
  for (const [place, layer] of layers.entries()) drawTrails(pen, project, layer, look, place);
  for (const layer of layers) for (const link of layer.links) drawLink(pen, project, link, look);
  const over = layers.length > 1;
  // The widest rings first, so that none covers another.
  if (over) for (const [place, layer] of [...layers.entries()].reverse()) drawRings(pen, project, layer, look, place);
  for (const [place, layer] of layers.entries()) drawLayer(pen, project, layer, look, place, over);
  drawLabels(context, size, project, layers, look);
}

/** How much smaller than a frame a thumbnail is drawn. */
const MINIFIED = 2;

/**
 * Draws a small picture of a frame. Resolves when it is drawn.
 * @param {HTMLCanvasElement} canvas
 * @param {Source} source
 * @param {number} frame
 * @param {number[]} submissions
 * @param {Passes | null} passes
 */
export async function thumbnail(canvas, source, frame, submissions, passes) {
  const rows = await Promise.all(submissions.map((submission) => source.rows(frame, submission)));
  const loaded = await load(await source.picture(frame));
  const layers = rows.map((frame) => layerOf(frame, [], source.about));
  const whole = covering(source.about.sequences[source.frames.sequence[frame]].extent, loaded?.picture ?? null);
  const extent = loaded ? whole : closer(whole, layers.flatMap(({ shapes }) => shapes.map(boundsOf)));
  drawSmall(canvas, source.about, extent, loaded, layers, passes, () => null);
}

/**
 * Draws a patch: a row with what lies around it. Resolves when it is drawn.
 * @param {HTMLCanvasElement} canvas
 * @param {Source} source
 * @param {FrameRows} rows of its frame
 * @param {{side: Side, row: number}} drawn
 * @param {Passes | null} passes
 */
export async function drawPatch(canvas, source, rows, { side, row }, passes) {
  const loaded = await load(await source.picture(rows.frame));
  const layer = layerOf(rows, [], source.about);
  const isDrawn = (/** @type {Shape} */ shape) => shape.side === side && shape.row === row;
  const pair = layer.links.find(({ from, to }) => isDrawn(from) || isDrawn(to));
  const shapes = pair ? [pair.from, pair.to] : layer.shapes.filter(isDrawn);
  const whole = source.about.sequences[source.frames.sequence[rows.frame]].extent;
  const extent = shapes.length ? surroundings(whole, shapes.map(boundsOf), reachOf(source.about)) : whole;
  drawSmall(canvas, source.about, extent, loaded, [layer], passes, (shape) => (isDrawn(shape) ? "hovered" : null));
}

/**
 * How far from points a pair may lie, px; 0 where pairs are not found by distance.
 * @param {SourceFacts} about
 */
function reachOf({ measure: { title, needed } }) {
  return title.startsWith("distance") && needed !== undefined ? needed : 0;
}

/**
 * Draws an area larger than it is shown, so that marks are smaller and do not hide each other.
 * @param {HTMLCanvasElement} canvas
 * @param {SourceFacts} about
 * @param {Extent} extent
 * @param {LoadedPicture | null} loaded
 * @param {Layer[]} layers
 * @param {Passes | null} passes
 * @param {Look["emphasis"]} emphasis
 */
function drawSmall(canvas, about, extent, loaded, layers, passes, emphasis) {
  const { plain, onPicture } = palettesOf(canvas);
  const size = { width: MINIFIED * canvas.clientWidth || canvas.width, height: MINIFIED * canvas.clientHeight || canvas.height };
  drawFrame(sharp(canvas, size), size, fitted(extent, size), loaded, layers, {
    palette: loaded ? onPicture : plain,
    coloring: layers.length > 1 ? "submission" : "outcome",
    passes,
    about,
    labelOf: () => null,
    emphasis,
  });
}

/**
 * Loads a picture; null where there is none or it cannot be read.
 * @param {Picture | null} picture
 * @returns {Promise<LoadedPicture | null>}
 */
export async function load(picture) {
  if (!picture) return null;
  const image = new Image();
  image.src = picture.url;
  return image.decode().then(() => ({ image, picture }), () => null);
}

/**
 * The area that shows a sequence's objects and the picture.
 * @param {Extent} extent
 * @param {Picture | null} picture
 * @returns {Extent}
 */
export function covering([left, right, top, bottom], picture) {
  if (!picture) return [left, right, top, bottom];
  return [Math.min(left, picture.left), Math.max(right, picture.right), Math.min(top, picture.top), Math.max(bottom, picture.bottom)];
}

/**
 * The context of a canvas that has as many pixels as the screen shows of it, to be drawn on in CSS px.
 * @param {HTMLCanvasElement} canvas
 * @param {Size} size
 * @returns {CanvasRenderingContext2D}
 */
export function sharp(canvas, { width, height }) {
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Projection} project
 * @param {LoadedPicture} loaded
 */
function drawPicture(context, project, { image, picture }) {
  const [x, y] = project(picture.left, picture.top);
  const [x2, y2] = project(picture.right, picture.bottom);
  context.imageSmoothingEnabled = x2 - x < 4 * (picture.right - picture.left); // near by, pixels are seen as pixels
  context.drawImage(image, x, y, x2 - x, y2 - y);
}

/**
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Layer} layer
 * @param {Look} look
 * @param {number} place of the layer
 */
function drawTrails(pen, project, layer, look, place) {
  for (const { side, name, path } of layer.trails) {
    if (side === "truth" && place > 0) continue;
    const points = [];
    for (let i = 0; i < path.length; i += 2) points.push(project(path[i], path[i + 1]));
    const line = new Path2D();
    addLine(line, points);
    const mark = side === "truth" ? FOUND : RIGHT;
    const color = colorOf({ side, name, mark, submission: layer.submission }, look);
    pen(line, color, 1.4, side === "truth" ? [] : [3, 2], 0.75);
  }
}

/**
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Link} link
 * @param {Look} look
 */
function drawLink(pen, project, { from, to }, look) {
  const ends = [project(from.x, from.y), project(to.x, to.y)];
  if (Math.hypot(ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]) < SHORTEST) return; // nobody sees it, and it takes time
  const path = new Path2D();
  addLine(path, ends);
  pen(path, look.palette.ink, 1.2, [], passing(from, look) && passing(to, look) ? 0.9 : PALE);
}

/**
 * Draws truths and predictions. Layers over one another have the same truths, which are drawn with the first one.
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Layer} layer
 * @param {Look} look
 * @param {number} place of the layer
 * @param {boolean} over whether there are several
 */
function drawLayer(pen, project, layer, look, place, over) {
  drawSkeletons(pen, project, layer, look, place);
  for (const shape of layer.shapes) {
    if (shape.side === "truth" && place > 0) continue;
    const alpha = layer.present && passing(shape, look) ? 1 : PALE;
    const mark = over && shape.mark === MISSED ? FOUND : shape.mark; // rings tell who missed it
    strokeShape(pen, project, shape, mark, look.about, colorOf({ ...shape, mark }, look), alpha, 0);
    const change = shape.side === "truth" && look.changeOf?.(shape);
    if (change) strokeChange(pen, cornersAround(shape, look.about, project), change, look.palette.ink, alpha);
    const emphasis = look.emphasis(shape);
    if (emphasis) strokeHalo(pen, project, shape, look.palette, emphasis === "selected" ? 3 : 1.5);
  }
}

/**
 * Draws a ring around each truth that a submission missed, where several lie over one another.
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Layer} layer
 * @param {Look} look
 * @param {number} place of the layer
 */
function drawRings(pen, project, layer, look, place) {
  for (const shape of layer.shapes) {
    if (shape.mark !== MISSED) continue;
    const alpha = layer.present && passing(shape, look) ? 1 : PALE;
    strokeShape(pen, project, shape, MISSED, look.about, colorOf(shape, look), alpha, (place + 1) * RING);
  }
}

/**
 * Draws the skeletons that joints of an object make; poses draw their own.
 * @param {Pen} pen
 * @param {Projection} project
 * @param {Layer} layer
 * @param {Look} look
 * @param {number} place of the layer
 */
function drawSkeletons(pen, project, layer, { about, palette }, place) {
  for (const { side, joints } of layer.skeletons) {
    if (side === "truth" && place > 0) continue;
    strokeBones(pen, project, joints, about.bones, palette.ink, 1.2, side === "truth" ? [] : [4, 3], 0.6);
  }
}

/**
 * @param {{side: Side, name: string, mark: number, submission: number}} shape
 * @param {Look} look
 * @returns {string}
 */
function colorOf({ side, name, mark, submission }, { palette, coloring }) {
  if (mark === IGNORED) return palette.marks[mark];
  if (coloring === "identity") return identityColor(name, palette.dark);
  if (coloring === "outcome") return palette.marks[mark];
  return side === "truth" && mark === FOUND ? palette.ink : palette.series[submission % palette.series.length];
}

/**
 * @param {Shape} shape
 * @param {Look} look
 */
function passing({ side, submission, row }, { passes }) {
  return !passes || passes[side][submission][row] === 1;
}

/**
 * Writes the labels of all layers; where these lie over one another, truths have those of the first.
 * @param {CanvasRenderingContext2D} context
 * @param {Size} size
 * @param {Projection} project
 * @param {Layer[]} layers
 * @param {Look} look
 */
function drawLabels(context, size, project, layers, look) {
  context.font = FONT;
  context.setLineDash([]);
  context.textBaseline = "bottom";
  const wanted = layers.flatMap(({ shapes }, place) => shapes.flatMap((shape) => {
    const label = (shape.side === "truth" && place > 0) || !passing(shape, look) ? null : look.labelOf(shape);
    return label === null ? [] : [wantedLabel(shape, label, project, look)];
  }));
  for (const { wanted: { label: { text }, color }, x, y } of placedLabels(wanted, size, (text) => context.measureText(text).width)) {
    context.globalAlpha = 1;
    context.lineWidth = 3;
    context.strokeStyle = look.palette.rim ? "rgb(0 0 0 / 0.8)" : look.palette.paper;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
  }
}

/**
 * A label with where its shape is on the screen, with the marks around it. A truth has its label above it, a prediction
 * below, so that those of a pair can both be read.
 * @param {Shape} shape
 * @param {Label} label
 * @param {Projection} project
 * @param {Look} look
 * @returns {Wanted}
 */
function wantedLabel(shape, label, project, look) {
  const above = shape.side === "truth";
  if (look.changeOf?.(shape)) {
    return { label, ...cornersAround(shape, look.about, project), above, color: above ? look.palette.ink : colorOf(shape, look) };
  }
  const [x, y, w, h] = boundsOf(shape);
  const room = shape.box || shape.joints ? 0 : RADIUS;
  const [left, top] = project(x, y);
  const [right, bottom] = project(x + w, y + h);
  const color = label.text.includes("→") ? look.palette.marks[MISSED] : colorOf(shape, look);
  return { label, left: left - room, top: top - room, right: right + room, bottom: bottom + room, above, color };
}
