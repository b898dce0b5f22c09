import assert from "node:assert/strict";
import { test } from "node:test";

import { showCrosses } from "../../../spotgeo_frames/presentation/viewer/assets/cross.js";

test("the place under the pointer is shown in all panels but its own", () => {
  const crosses = [];
  const panel = (i, place) => ({ pointed: () => place, showCross: (shown) => { crosses[i] = shown; } });
  const place = { x: 3, y: 4 };
  showCrosses([panel(0, null), panel(1, place), panel(2, null)]);
  assert.deepEqual(crosses, [place, null, place]);
  showCrosses([panel(0, null), panel(1, null), panel(2, null)]);
  assert.deepEqual(crosses, [null, null, null]);
});
