/* Shows the progress of a job, which a worker carries out. */
"use strict";

const PAUSE_MS = 1000;
const job = document.getElementById("job");

function begin() {
  const say = (text) => { job.querySelector(".job-text").textContent = text; };

  async function look() {
    let pause = PAUSE_MS;
    try {
      const answer = await (await fetch(job.dataset.progress, { headers: { Accept: "application/json" } })).json();
      job.querySelector("progress").value = answer.done + answer.refused;
      say(answer.text);
      if (answer.state !== "running") {
        location.reload();
        return;
      }
    } catch {
      say("The service did not answer. Trying again.");
      pause = 5 * PAUSE_MS;
    }
    setTimeout(look, pause);
  }

  look();
}

if (job && "running" in job.dataset) begin();
