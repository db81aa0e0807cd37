/* Carries a job out while its page is open. Without this script, the button does so step by step. */
"use strict";

const PAUSE_MS = 700;
const job = document.getElementById("job");

async function step() {
  const form = job.querySelector("form");
  const request = { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } };
  let answer;
  try {
    const response = await fetch(form.action, request);
    answer = await response.json();
  } catch {
    job.querySelector(".job-text").textContent = "The service did not answer. Trying again.";
    setTimeout(step, 5 * PAUSE_MS);
    return;
  }
  job.querySelector("progress").value = answer.done + answer.refused;
  job.querySelector(".job-text").textContent = answer.text;
  if (answer.state === "running") setTimeout(step, PAUSE_MS);
  else location.reload();
}

if (job && "running" in job.dataset) {
  job.querySelector("form").hidden = true;
  step();
}
