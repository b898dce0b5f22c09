// What truths and predictions can be, and what can happen to tracks.

/** What a truth or a prediction is: positions in MARKS, which names marks, and in STATES, which tells of outcomes. */
export const FOUND = 0;
export const MISSED = 1;
export const RIGHT = 2;
export const FALSE = 3;
export const IGNORED = 4;
export const MARKS = ["found truth", "missed truth", "right prediction", "false prediction", "ignored"];

/** Of an object with several joints in a frame, some may be found and some missed. */
export const PARTLY = 5;
export const STATES = ["found", "missed", "right", "false", "ignored", "partly found"];

/** What happened to a track: positions in EVENTS. */
export const NO_EVENT = 0;
export const SWITCH = 1;
export const GAP = 2;
export const EVENTS = ["", "switch", "gap"];
