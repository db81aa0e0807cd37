/* Shows the progress of a job. Where no scheduler carries jobs out, the page does so, step by step. */
"use strict";

const PAUSE_MS = 1000;
const STILL_MS = 20_000;
const job = document.getElementById("job");

function begin() {
  const form = job.querySelector("form");
  const drives = "drives" in job.dataset;
  const say = (text) => { job.querySelector(".job-text").textContent = text; };
  let position = null;
  let movedAt = Date.now();

  function ask() {
    const headers = { Accept: "application/json" };
    if (!drives) return fetch(job.dataset.progress, { headers });
    return fetch(form.action, { method: "POST", body: new FormData(form), headers });
  }

  function show(answer) {
    const now = answer.done + answer.refused;
    if (now !== position) movedAt = Date.now();
    position = now;
    job.querySelector("progress").value = now;
    say(answer.text);
    // The form is offered where nothing carries the job out.
    form.hidden = Date.now() - movedAt < STILL_MS;
  }

  async function step() {
    let pause = PAUSE_MS;
    try {
      const answer = await (await ask()).json();
      show(answer);
      if (answer.state !== "running") {
        location.reload();
        return;
      }
    } catch {
      say("The service did not answer. Trying again.");
      pause = 5 * PAUSE_MS;
    }
    setTimeout(step, pause);
  }

  form.hidden = true;
  step();
}

if (job && "running" in job.dataset) begin();
