// Packs tables as Python does, by hand, so that the tests know each byte.

/** Collects columns into bytes, each by byte planes from a multiple of 8 on. */
export class Packer {
  bytes = [];

  put(array) {
    while (this.bytes.length % 8) this.bytes.push(0);
    const offset = this.bytes.length;
    const width = array.BYTES_PER_ELEMENT;
    const values = new Uint8Array(array.buffer);
    for (let plane = 0; plane < width; plane++) {
      for (let i = 0; i < array.length; i++) this.bytes.push(values[i * width + plane]);
    }
    return offset;
  }

  integers(name, values, decimals = 0) {
    const array = Int16Array.from(values, (value) => (value === null ? -(2 ** 15) : Math.round(value * 10 ** decimals)));
    return { name, form: "int16", offset: this.put(array), decimals };
  }

  floats(name, values) {
    return { name, form: "float32", offset: this.put(Float32Array.from(values, (value) => value ?? NaN)) };
  }

  texts(name, values) {
    const known = [...new Set(values.filter((value) => value !== null))];
    return { name, form: "int8", offset: this.put(Int8Array.from(values, (value) => known.indexOf(value))), values: known };
  }

  get buffer() {
    return Uint8Array.from(this.bytes).buffer;
  }
}

export const table = (n, ...columns) => ({ n, columns });

/**
 * Two sequences, "a" of three frames and "b" of one, with the truths 1 and 2 in each frame of "a" and none in "b".
 * The submission "all" finds 1 in frames 1 and 3, by 10 and then by 11, has a false alarm in frame 2, and one that is
 * ignored in "b". "some" lacks "b" and finds both truths everywhere else.
 */
export function tracks() {
  const packer = new Packer();
  const flags = (...values) => values.map((value) => (value ? "True" : "False"));
  const truth = table(6,
    packer.integers("object", [1, 2, 1, 2, 1, 2]),
    packer.integers("x", [10, 50, 12, 50, 14, 50], 1),
    packer.integers("y", [10, 50, 10, 50, 10, 50], 1),
    packer.floats("brightness", [0.5, 0.25, null, 1, 2, 3]),
    packer.texts("__proto__", ["<b>", null, "<b>", null, "<b>", null]),
  );
  const all = {
    name: "all",
    frames: table(4, packer.integers("n_predicted", [1, 1, 1, 1])),
    predicted: table(4,
      packer.integers("object", [10, 9, 11, 8]),
      packer.integers("x", [11, 90, 15, 1], 1),
      packer.integers("y", [10, 90, 10, 1], 1),
      packer.floats("score", [0.9, 0.1, 0.8, 0.2]),
      packer.texts("kind", [null, "no_truth_in_frame", null, null]),
      packer.texts("ignored", flags(false, false, false, true)),
    ),
    pairs: table(6,
      packer.integers("pair", [0, -1, -1, -1, 0, -1]),
      packer.floats("measure", [1, null, null, null, 1.5, null]),
      packer.texts("kind", [null, "lost", "lost", "lost", null, "lost"]),
      packer.texts("event", ["match", "miss", "miss", "miss", "switch", "miss"]),
    ),
  };
  const some = {
    name: "some",
    frames: table(4, packer.integers("n_predicted", [2, 2, 2, -1])),
    predicted: table(6,
      packer.integers("object", [2, 1, 2, 1, 2, 1]),
      packer.integers("x", [50, 10, 50, 12, 50, 14], 1),
      packer.integers("y", [50, 10, 50, 10, 50, 10], 1),
    ),
    pairs: table(6,
      packer.integers("pair", [1, 0, 1, 0, 1, 0]),
      packer.floats("measure", [0, 0, 0, 0, 0, 0]),
      packer.texts("event", Array(6).fill("match")),
    ),
  };
  const sides = { left: 0, right: 100, top: 0, bottom: 60 };
  const about = {
    kind: "points",
    identities: true,
    measure: { title: "distance, px", decimals: 2 },
    decimals: 1,
    joints: [],
    bones: [],
    sequences: table(2,
      packer.texts("name", ["a", "constructor"]),
      ...Object.entries(sides).map(([name, value]) => packer.integers(name, [value, value])),
      packer.texts("sequence_weather", ["rain", null]),
    ),
    frames: table(4,
      packer.integers("sequence", [0, 0, 0, 1]),
      packer.integers("frame", [1, 2, 3, 7]),
      packer.integers("n_truth", [2, 2, 2, 0]),
      packer.texts("frame_clouds", ["few", null, "many", null]),
    ),
    truth,
    submissions: [all, some],
  };
  return { about, buffer: packer.buffer };
}
