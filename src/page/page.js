"use strict";

// A click on a column's head sorts the rows shown; another click turns the order. Empty cells stay at the end.
const value = (row, column) => {
  const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
  const number = text === "" ? NaN : text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
  return { text, number };
};

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const turn = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].map((row) => ({ row, ...value(row, column) }));
      rows.sort((a, b) => {
        if ((a.text === "") !== (b.text === "")) return a.text === "" ? 1 : -1;
        if (isNaN(a.number) !== isNaN(b.number)) return isNaN(a.number) ? 1 : -1;
        if (!isNaN(a.number)) return turn * (a.number < b.number ? -1 : a.number > b.number ? 1 : 0);
        return turn * (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
      });
      table.tBodies[0].append(...rows.map((entry) => entry.row));
    });
  });
}

// The search box hides entries that lack one of its words, and groups without an entry left.
const box = document.getElementById("search");
if (box) {
  const entries = [...document.querySelectorAll("[data-words]")].map((element) => ({
    element,
    words: (element.dataset.words + " " + element.textContent).toLowerCase(),
  }));
  const groups = [...document.querySelectorAll("[data-group]")];
  const found = document.getElementById("found");
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter((word) => word);
    let shown = 0;
    for (const entry of entries) {
      entry.element.hidden = !words.every((word) => entry.words.includes(word));
      shown += entry.element.hidden ? 0 : 1;
    }
    for (const group of groups) group.hidden = !group.querySelector("[data-words]:not([hidden])");
    found.textContent = words.length ? shown + " of " + entries.length : "";
  };
  box.addEventListener("input", filter);
  // What was asked for on another page.
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) box.value = asked;
  box.closest("[hidden]").hidden = false;
  filter();
}

// On other pages, the index is asked.
const everywhere = document.getElementById("everywhere");
if (everywhere) {
  everywhere.closest("[hidden]").hidden = false;
  everywhere.addEventListener("keydown", (event) => {
    if (event.key === "Enter") location.href = "index.html?q=" + encodeURIComponent(everywhere.value);
  });
}
