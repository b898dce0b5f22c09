// The form of the filter: its conditions, each of which can be removed, and fields to add another one.

import { make, makeButton } from "../../../viewer/assets/elements.js";
import { choicesOf, conditionText, MOST_CHOICES } from "./filters.js";
import { columnNames } from "./match_rows.js";

/**
 * @import { View } from "../../../viewer/assets/columns.js"
 * @import { Condition } from "./filters.js"
 *
 * @typedef {{element: HTMLElement, condition: () => Condition | null}} Field what a column is asked for
 */

/**
 * Builds a filter within an element.
 * @param {HTMLElement} root
 * @param {View} view
 * @param {(conditions: Condition[]) => void} change
 * @returns {(conditions: Condition[], told: string) => void} what shows it
 */
export function makeFilter(root, view, change) {
  /** @type {Condition[]} */
  let current = [];
  const chips = make("ul", "chips");
  const told = make("p", "filter-told");
  told.setAttribute("role", "status");
  const form = makeForm(view, (condition) => change([...current, condition]));
  root.replaceChildren(form, chips, told);
  return (conditions, text) => {
    current = conditions;
    const removed = (/** @type {number} */ i) => conditions.filter((_, place) => place !== i);
    const buttons = conditions.map((condition, i) => makeChip(conditionText(condition), () => {
      change(removed(i));
      form.querySelector("select")?.focus(); // the button is gone
    }));
    if (conditions.length > 1) buttons.push(makeChip("the whole filter", () => { change([]); form.querySelector("select")?.focus(); }));
    chips.replaceChildren(...buttons);
    chips.hidden = !buttons.length;
    told.textContent = text;
  };
}

/**
 * @param {string} text
 * @param {() => void} remove
 */
function makeChip(text, remove) {
  const item = make("li");
  const button = makeButton(`${text} ×`, remove);
  button.setAttribute("aria-label", `Remove ${text}`);
  item.append(button);
  return item;
}

/**
 * @param {View} view
 * @param {(condition: Condition) => void} add
 */
function makeForm(view, add) {
  const form = make("form", "controls");
  const label = make("label", "", "Filter by");
  const select = make("select");
  const place = make("div", "filter-field");
  for (const name of columnNames(view)) select.append(new Option(name, name));
  label.append(select);
  const button = make("button", "", "Add to the filter");
  button.type = "submit";
  let field = fieldOf(view, select.value);
  const show = () => {
    field = fieldOf(view, select.value);
    place.replaceChildren(field.element);
  };
  select.addEventListener("change", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const condition = field.condition();
    if (condition) add(condition);
  });
  form.append(label, place, button);
  show();
  return form;
}

/**
 * The fields that ask for values of a column.
 * @param {View} view
 * @param {string} column
 * @returns {Field}
 */
function fieldOf(view, column) {
  const choices = choicesOf(view, column);
  if (!choices) return { element: make("span"), condition: () => null };
  if ("values" in choices) return choices.values.length > MOST_CHOICES ? typed(column, choices.values) : chosen(column, choices.values);
  return between(column, choices.least, choices.most);
}

/**
 * @param {string} column
 * @param {string[]} values
 * @returns {Field}
 */
function chosen(column, values) {
  const element = make("label", "", "is");
  const select = make("select");
  for (const value of values) select.append(new Option(value, value));
  element.append(select);
  return { element, condition: () => (values.length ? { column, is: [values[select.selectedIndex]] } : null) };
}

/**
 * @param {string} column
 * @param {string[]} values
 * @returns {Field}
 */
function typed(column, values) {
  const element = make("label", "", "is");
  const input = make("input");
  input.placeholder = values[0];
  input.addEventListener("input", () => input.setCustomValidity(values.includes(input.value) ? "" : "No object of this page has this value."));
  input.required = true;
  element.append(input);
  return { element, condition: () => ({ column, is: [input.value] }) };
}

/**
 * @param {string} column
 * @param {number} least
 * @param {number} most
 * @returns {Field}
 */
function between(column, least, most) {
  const element = make("div", "filter-range");
  const inputs = [["from", least], ["to", most]].map(([title, bound]) => {
    const label = make("label", "", String(title));
    const input = make("input");
    input.type = "number";
    input.step = "any";
    input.placeholder = Number.isFinite(bound) ? String(Number(Number(bound).toPrecision(6))) : "";
    label.append(input);
    element.append(label);
    return input;
  });
  const condition = () => {
    const [from, to] = inputs.map(({ value }) => (value === "" ? null : Number(value)));
    return from === null && to === null ? null : { column, from, to };
  };
  return { element, condition };
}
