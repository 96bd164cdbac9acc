"use strict";
// Shows the entries that have all words, and hides the others. The page works without this script.
const search = document.getElementById("search");
if (search) {
  const input = search.querySelector("input");
  const found = search.querySelector("output");
  const entries = [...document.querySelectorAll(".entry")].map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
  }));
  const groups = [...document.querySelectorAll(".group")];
  const show = () => {
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
    timer = setTimeout(show, 100);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && document.activeElement === input) {
      input.value = "";
      show();
    }
  });
  search.hidden = false;
}
