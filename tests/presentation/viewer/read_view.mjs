// Prints the tables of a view, read from the JSON and the bytes in a folder, as rows of texts.
import { readFileSync } from "node:fs";

import { inflated, readView, textAt } from "../../../spotgeo_frames/presentation/viewer/assets/columns.js";
import { sourceOf } from "../../../spotgeo_frames/presentation/viewer/assets/source.js";

const folder = process.argv[2];
const view = readView(JSON.parse(readFileSync(`${folder}/about.json`)), await inflated(readFileSync(`${folder}/content`).toString("base64")));
const source = sourceOf(view);
const column = (table, name) => Array.from({ length: table.n }, (_, row) => textAt(table.columns.get(name), row));
const total = (name) => view.submissions.map((_, submission) =>
  Array.from({ length: view.frames.n }, (_, frame) => source.counts(frame, submission)?.[name] ?? 0).reduce((a, b) => a + b, 0));
process.stdout.write(JSON.stringify({
  kind: view.kind,
  sequences: column(view.sequences, "name"),
  truths: column(view.truth, "object"),
  x: column(view.truth, "x"),
  found: total("found"),
  missed: total("missed"),
  wrong: total("wrong"),
  ignored: total("ignored"),
}));
