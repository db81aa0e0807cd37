// The key "/" leads to the search; the title of the page counts what waits for a decision; cells of lists name their
// columns, for phones.
"use strict";
(() => {
  const SECONDS = 60;
  const names = [...document.querySelectorAll("#result_list > thead th")].map(one => one.querySelector(".text")?.textContent.trim());
  for (const row of document.querySelectorAll("#result_list > tbody > tr")) {
    [...row.children].forEach((cell, at) => { if (names[at]) cell.dataset.label = names[at]; });
  }

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
    if (document.hidden) return;
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

  count();
  setInterval(count, SECONDS * 1000);
  document.addEventListener("visibilitychange", count);
})();
