/* Decides rows of a list by keys, without loading the list again. Without this script, the buttons send forms. */
"use strict";

const UNDO_MS = 30_000;
const bar = document.getElementById("decision-bar");

function start() {
  const rows = [...document.querySelectorAll("[data-decide]")];
  const part = (name) => bar.querySelector(`.decision-${name}`);
  const reason = document.getElementById("decision-reason");
  const ready = bar.querySelector(".ready-reasons");
  const barButtons = [...bar.querySelectorAll("[data-key]")];
  let current = null;
  // The decisions of the last 30 seconds, the latest last.
  let undoable = [];
  let isBusy = false;

  const formOf = (row) => document.getElementById(`decide-${row.dataset.decide}`);
  const lineOf = (row) => row.closest("tr");
  const buttonsOf = (row) => [...row.querySelectorAll("button[name]")];
  const isOpen = (row) => buttonsOf(row).some((button) => !button.disabled);
  const say = (text) => { part("done").textContent = text; };

  function select(row, { scroll = true, isFirst = false } = {}) {
    if (current) {
      lineOf(current).classList.remove("current-row");
      lineOf(current).removeAttribute("aria-current");
    }
    current = row;
    showReasons(false);
    reason.value = "";
    // The next key is for the row.
    reason.blur();
    if (!row) return;
    lineOf(row).classList.add("current-row");
    lineOf(row).setAttribute("aria-current", "true");
    lineOf(row).tabIndex = -1;
    // A page that loads leaves the focus at its beginning.
    if (!isFirst || scroll) lineOf(row).focus({ preventScroll: true });
    part("name").textContent = row.dataset.name;
    const offered = buttonsOf(row);
    for (const button of [...barButtons, reason]) button.setAttribute("form", formOf(row).id);
    for (const button of barButtons) {
      button.disabled = !offered.some((one) => one.value === button.value && !one.disabled);
    }
    // While the page loads, a browser would scroll to it, also sideways.
    if (!isFirst) history.replaceState(null, "", `#${row.id}`);
    if (scroll) showLine(lineOf(row));
  }

  /* Not sideways: the buttons of a row may be far to the right. */
  function showLine(line) {
    const { top, bottom } = line.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight - bar.offsetHeight) scrollBy({ top: top - innerHeight / 4 });
  }

  function move(step) {
    const at = rows.indexOf(current) + step;
    if (rows[at]) select(rows[at]);
  }

  function next() {
    const at = rows.indexOf(current);
    const following = [...rows.slice(at + 1), ...rows.slice(0, at)].find(isOpen);
    if (following) select(following);
    else location.assign(location.pathname + location.search);
  }

  function showReasons(isShown) {
    ready.hidden = !isShown || !ready.children.length;
    bar.toggleAttribute("data-asks", isShown);
  }

  function askReason() {
    showReasons(true);
    reason.focus();
  }

  /* `decided`: the time of the decision that this one undoes, which the service refuses after a later one. */
  async function send(row, decision, decided = "") {
    const form = formOf(row);
    const body = new FormData(form);
    body.set("decision", decision);
    if (decision === "undo") body.set("reason", "");
    if (decided) body.set(`decided-${row.dataset.decide}`, decided);
    const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    const type = response.headers.get("Content-Type") || "";
    if (!type.includes("json")) return { error: "The page is out of date. Load it again." };
    return response.json();
  }

  async function decide(row, button) {
    if (isBusy) return;
    if (button.hasAttribute("data-needs-reason") && (row !== current || !reason.value.trim())) {
      select(row);
      askReason();
      return;
    }
    if (row !== current) select(row);
    isBusy = true;
    say("…");
    try {
      show(row, button.value, await send(row, button.value));
    } catch {
      say("The service did not answer. Try again.");
    } finally {
      isBusy = false;
    }
  }

  function show(row, decision, answer) {
    if (answer.error) {
      sayError(answer);
      return;
    }
    setState(row, answer);
    if (answer.undo && decision !== answer.undo) {
      offerUndo({ row, decision: answer.undo, decided: answer.decided });
    }
    for (const button of buttonsOf(row)) button.disabled = true;
    lineOf(row).classList.add("decided-row");
    say(answer.text);
    // Before the response, another row may have been chosen. If no row is open, the list is loaded again.
    if (row === current || !rows.some(isOpen)) next();
  }

  function sayError(answer) {
    say(answer.error);
    if (!answer.instead) return;
    const link = document.createElement("a");
    link.href = answer.instead.url;
    link.textContent = answer.instead.text;
    part("done").append(" ", link);
  }

  function setState(row, answer) {
    const badge = lineOf(row).querySelector(".field-state .badge");
    if (!badge) return;
    badge.textContent = answer.state;
    badge.className = `badge ${answer.kind}`;
  }

  function offerUndo(what) {
    undoable.push(what);
    part("undo").hidden = false;
    setTimeout(() => withdrawUndo(what), UNDO_MS);
  }

  function withdrawUndo(what) {
    undoable = undoable.filter((one) => one !== what);
    part("undo").hidden = !undoable.length;
  }

  async function undo() {
    if (!undoable.length || isBusy) return;
    const latest = undoable.at(-1);
    const { row, decision, decided } = latest;
    isBusy = true;
    try {
      const answer = await send(row, decision, decided);
      withdrawUndo(latest);
      if (answer.error) {
        sayError(answer);
        return;
      }
      setState(row, answer);
      for (const button of buttonsOf(row)) button.disabled = false;
      lineOf(row).classList.remove("decided-row");
      select(row);
      say(answer.text);
    } catch {
      say("The service did not answer. Try again.");
    } finally {
      isBusy = false;
    }
  }

  function toggle(row) {
    const details = row && lineOf(row).querySelector("details.review");
    if (details) details.open = !details.open;
  }

  function help() {
    const keys = document.getElementById("decision-keys");
    keys.hidden = !keys.hidden;
    part("help").setAttribute("aria-expanded", String(!keys.hidden));
  }

  /* The key belongs to an input method: Safari ends a composition before the key, and gives that 229. */
  const isComposed = (event) => event.isComposing || event.keyCode === 229;

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isComposed(event)) return;
    if (event.target === reason) {
      onKeyInReason(event);
      return;
    }
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const key = event.key.toLowerCase();
    // A key that is held moves on, and decides once.
    if (event.repeat && !["j", "k"].includes(key)) return;
    const button = barButtons.find((one) => one.dataset.key === key && !one.disabled);
    const moves = { j: () => move(1), k: () => move(-1), o: () => toggle(current), u: undo, "?": help };
    if (button && current) decide(current, button);
    else if (moves[key]) moves[key]();
    else return;
    event.preventDefault();
  }

  function onKeyInReason(event) {
    const number = Number(event.key);
    if (event.key === "Escape") {
      showReasons(false);
      reason.blur();
    } else if (event.key === "Enter") {
      const button = barButtons.find((one) => one.hasAttribute("data-needs-reason") && !one.disabled);
      if (button && current) decide(current, button);
    } else if (!reason.value && number >= 1 && number <= ready.children.length) {
      reason.value = ready.children[number - 1].textContent;
    } else {
      return;
    }
    event.preventDefault();
  }

  /* A request for every community: the first opening of its row offers all of them. */
  function offerCommunities(event) {
    const place = event.target.querySelector?.("[data-every-community]");
    const all = document.getElementById("all-communities");
    if (!place || !all || !event.target.open) return;
    const list = document.createElement("select");
    list.multiple = true;
    list.size = 6;
    list.name = "community_ids";
    list.setAttribute("form", `decide-${place.dataset.everyCommunity}`);
    list.setAttribute("aria-label", "Communities; none: every community");
    list.append(all.content.cloneNode(true));
    place.replaceChildren(`None: every community. ${all.dataset.more ?? ""}`, document.createElement("br"), list);
    delete place.dataset.everyCommunity;
  }

  for (const row of rows) {
    lineOf(row).addEventListener("click", (event) => {
      if (!event.target.closest("a, button, input, summary, label, select")) select(row, { scroll: false });
    });
    lineOf(row).addEventListener("toggle", offerCommunities, true);
  }
  document.addEventListener("submit", (event) => {
    const row = rows.find((one) => formOf(one) === event.target);
    if (!row || !event.submitter?.value) return;
    event.preventDefault();
    decide(row, event.submitter);
  });
  for (const item of ready.children) {
    item.addEventListener("click", () => { reason.value = item.textContent; reason.focus(); });
  }
  document.getElementById("result_list").classList.add("has-bar");
  // A button of the bar would be stopped by the required reason before the ready ones are shown.
  for (const button of barButtons) button.formNoValidate = true;
  part("undo").addEventListener("click", undo);
  part("help").hidden = false;
  part("help").addEventListener("click", help);
  document.addEventListener("keydown", onKey);
  select(rows.find((row) => `#${row.id}` === location.hash && isOpen(row)) || rows.find(isOpen) || null, {
    scroll: Boolean(location.hash), isFirst: true,
  });
  if (!current) for (const button of barButtons) button.disabled = true;
  // The address may name a row, whose id is that of its last column.
  addEventListener("load", () => document.querySelector("#changelist .results")?.scrollTo({ left: 0 }));
}

/* On the page of one row, and on a list without rows: the keys press the buttons of the bar, and U the latest decision's Undo. */
function startPage() {
  const reason = document.getElementById("decision-reason");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const key = event.key.toLowerCase();
    const button = [...document.querySelectorAll(".decision-bar [data-key]")].find((one) => one.dataset.key === key);
    const undo = document.querySelector(".recent-decision button");
    if (button?.hasAttribute("data-needs-reason") && !reason.value.trim()) reason.focus();
    else if (button) button.click();
    else if (key === "u" && undo) undo.click();
    else return;
    event.preventDefault();
  });
}

if (bar) start();
else startPage();
