// Makes elements. All text is inserted as text, never as HTML.

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * @param {string} text
 * @param {() => void} press
 * @returns {HTMLButtonElement}
 */
export function makeButton(text, press) {
  const button = make("button", "", text);
  button.type = "button";
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") press();
  });
  return button;
}

/**
 * A labelled list to choose from; `choose` gets the position of what was chosen.
 * @param {string} title
 * @param {string[]} options
 * @param {(position: number) => void} choose
 * @returns {{label: HTMLLabelElement, select: HTMLSelectElement}}
 */
export function makeSelect(title, options, choose) {
  const label = make("label", "", title);
  const select = make("select");
  options.forEach((text, position) => select.append(new Option(text, String(position))));
  select.addEventListener("change", () => choose(select.selectedIndex));
  label.append(select);
  return { label, select };
}

/**
 * @param {string} title
 * @param {(checked: boolean) => void} choose
 * @returns {{label: HTMLLabelElement, input: HTMLInputElement}}
 */
export function makeCheck(title, choose) {
  const label = make("label", "viewer-check");
  const input = make("input");
  input.type = "checkbox";
  input.addEventListener("change", () => choose(input.checked));
  label.append(input, title);
  return { label, input };
}

/**
 * Disables a button such that it keeps the focus.
 * @param {HTMLElement} button
 * @param {boolean} enabled
 */
export function enable(button, enabled) {
  button.setAttribute("aria-disabled", String(!enabled));
}
