// Buttons that copy the block of code beside them. Without this script, the code can be selected by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
  button.setAttribute("aria-live", "polite");
}

// On a phone, tabs and navigation are one line that scrolls: the current entry is in sight, and the page stays.
for (const entry of document.querySelectorAll("nav [aria-current]")) {
  const line = entry.closest(".tabs, ul")?.getBoundingClientRect();
  const { left, right } = entry.getBoundingClientRect();
  if (line) entry.closest(".tabs, ul").scrollBy(Math.max(0, right - line.right) + Math.min(0, left - line.left), 0);
}
