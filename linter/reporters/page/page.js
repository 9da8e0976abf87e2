"use strict";
const page = (() => {
  const THEME = "migrate-lint-theme";
  const SVG = "http://www.w3.org/2000/svg";
  const root = document.documentElement;

  // The theme, before anything is painted.

  function storedTheme() {
    try {
      return localStorage.getItem(THEME) || "auto";
    } catch {
      return "auto"; // no storage in a sandboxed frame
    }
  }

  function setTheme(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    try {
      localStorage.setItem(THEME, theme);
    } catch {
      // then it lasts as long as the page
    }
  }

  setTheme(storedTheme());

  // Elements. Text is only ever set as text, so that nothing of a stranger's can become markup.

  function fill(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
    }
    for (const child of children.flat(2)) if (child !== null && child !== undefined && child !== "") made.append(child);
    return made;
  }

  const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const draw = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
  const number = (value) => value.toLocaleString("en-US");
  const plural = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

  /** A text with its `code` between backticks. */
  function rich(text) {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, place) => (place % 2 ? el("code", {}, part) : part)) : [text];
  }

  /** The first line of a page: what it is, and the choice of its theme. */
  function brand(words, changed = () => {}) {
    const theme = el("select", { "aria-label": "Theme", onchange: () => { setTheme(theme.value); changed(); } },
      ["auto", "light", "dark"].map((one) => el("option", { value: one, selected: one === storedTheme() }, one)));
    return el("div", { class: "brand" },
      el("span", {}, words), el("label", { class: "theme" }, el("span", { class: "dim" }, "Theme"), theme));
  }

  const data = () => JSON.parse(document.getElementById("data").textContent);

  return { root, fill, el, draw, number, plural, rich, brand, data };
})();
