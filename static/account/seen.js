// Waits until the service has seen the widget on a page of the site, and says so.
const status = document.getElementById("seen");
const EVERY = 2000;
const UNTIL = Date.now() + 30 * 60_000;

async function look() {
  if (Date.now() > UNTIL) return;
  if (!document.hidden) {
    const response = await fetch(status.dataset.url, { headers: { Accept: "application/json" } }).catch(() => null);
    const seen = response?.ok ? await response.json() : null;
    // The page offers to add a refused domain.
    if (seen?.state === "refused" && status.dataset.state !== "refused") return location.reload();
    if (seen && seen.sentence !== status.textContent) status.textContent = seen.sentence;
    if (seen) status.dataset.state = seen.state;
    status.classList.toggle("warning", status.dataset.state !== "seen");
    if (status.dataset.state === "seen") return;
  }
  setTimeout(look, EVERY);
}

if (status.dataset.state !== "seen") setTimeout(look, EVERY);
