// Decides on posts without loading the whole page again. Without this script, the forms load it.

document.addEventListener("submit", async (event) => {
  const form = event.target, queue = document.querySelector("#queue");
  if (!queue || !queue.contains(form) || form.method !== "post") return;
  event.preventDefault();
  if (queue.getAttribute("aria-busy") === "true") return;
  queue.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)) });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.querySelector("#queue");
    if (!response.ok || !next) throw new Error(response.status);
    show(page, next);
    history.replaceState(null, "", response.url);
  } catch {
    // The page of the refusal, or of a browser without a connection.
    queue.removeAttribute("aria-busy");
    if (event.submitter?.name) form.append(hidden(event.submitter.name, event.submitter.value));
    form.submit();
  }
});

document.addEventListener("change", (event) => {
  if (!event.target.matches('#queue [data-all], #queue input[name="posts"][form]')) return;
  if (event.target.matches("[data-all]")) for (const box of boxes()) box.checked = event.target.checked;
  count();
});

function boxes() {
  return [...document.querySelectorAll('#queue input[name="posts"][form]')];
}

// The buttons for many posts appear with the first selected one.
function count() {
  const bar = document.querySelector("#queue .bar"), all = document.querySelector("#queue [data-all]");
  if (!bar) return;
  const chosen = boxes().filter((box) => box.checked).length;
  bar.hidden = !chosen;
  bar.querySelector("[data-number]").textContent = chosen;
  all.checked = chosen > 0 && chosen === boxes().length;
  all.indeterminate = chosen > 0 && !all.checked;
}

function show(page, next) {
  const main = document.querySelector("main");
  for (const old of main.querySelectorAll(":scope > .notice")) old.remove();
  const notices = [...page.querySelectorAll("main > .notice")].map((notice) => document.adoptNode(notice));
  main.prepend(...notices);
  document.querySelector("#queue").replaceWith(document.adoptNode(next));
  // The tab of a site has the number of posts that wait.
  const tabs = page.querySelector("main > .tabs");
  if (tabs) document.querySelector("main > .tabs")?.replaceWith(document.adoptNode(tabs));
  reveal();
  // Where the keyboard goes on: what was said.
  if (notices[0]) {
    notices[0].tabIndex = -1;
    notices[0].focus();
  }
}

function reveal() {
  for (const label of document.querySelectorAll("#queue .all")) label.hidden = false;
  count();
}

function hidden(name, value) {
  const input = document.createElement("input");
  return Object.assign(input, { type: "hidden", name, value });
}

// A page that is shown again has the selection of before.
addEventListener("pageshow", count);
reveal();
