"use strict";
// Shows the entries that have all words, and hides the others. The page works without this script.
const form = document.getElementById("search");
if (form) {
  const input = form.querySelector("input");
  const found = form.querySelector("output");
  const entries = [...document.querySelectorAll(".entry")].map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
  }));
  const groups = [...document.querySelectorAll(".group")];
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { element, text } of entries) {
      const has = words.every((word) => text.includes(word));
      element.hidden = !has;
      count += has ? 1 : 0;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector(".entry:not([hidden])");
    }
    found.textContent = words.length > 0 ? `${count} of ${entries.length}` : "";
  };
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 100);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && document.activeElement === input) {
      input.value = "";
      search();
    }
  });
  form.hidden = false;
}
