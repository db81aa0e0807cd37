// The key "/" leads to the search; the title of the page counts what waits for a decision; cells of lists name their
// columns, for phones; what opens over the page closes again.
"use strict";
(() => {
  // Between two counts; in a tab in the background, whose title is read there, every second one.
  const SECONDS = 60;
  const names = [...document.querySelectorAll("#result_list > thead th")].map(one => one.querySelector(".text")?.textContent.trim());
  for (const row of document.querySelectorAll("#result_list > tbody > tr")) {
    [...row.children].forEach((cell, at) => { if (names[at]) cell.dataset.label = names[at]; });
  }

  // The menu of the user, filters and saved lists: Escape or a click elsewhere closes them.
  const opened = () => document.querySelectorAll(":is(.user-menu, .filter-bar > details)[open]");
  document.addEventListener("click", event => {
    for (const one of opened()) if (!one.contains(event.target)) one.open = false;
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    for (const one of opened()) {
      one.open = false;
      one.querySelector("summary").focus();
    }
  });

  const form = document.querySelector(".desk-search");
  if (!form) return;
  const input = form.querySelector("input[type=search]");
  const title = document.title;

  document.addEventListener("keydown", event => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isPalette = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (isSlash || isPalette) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });

  async function count() {
    try {
      const headers = { Accept: "application/json" };
      const response = await fetch(form.dataset.waiting, { headers, redirect: "error" });
      if (!response.ok) return;
      const { total } = await response.json();
      document.title = total === "0" ? title : `(${total}) ${title}`;
    } catch {
      // The session has ended, or the service is away: the title stays.
    }
  }

  let turn = 0;
  count();
  setInterval(() => {
    turn += 1;
    if (!document.hidden || turn % 2 === 0) count();
  }, SECONDS * 1000);
  document.addEventListener("visibilitychange", count);
})();
