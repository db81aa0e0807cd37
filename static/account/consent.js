// A page of others may cover this one until just before a click, or open it under the finger: the buttons wait until
// the page has been in view for a second, each time that it comes into view.
const buttons = document.querySelectorAll("form[data-consent] button[name]");
let waiting = 0;

function wait() {
  clearTimeout(waiting);
  for (const button of buttons) button.disabled = true;
  if (document.visibilityState === "visible" && document.hasFocus()) {
    waiting = setTimeout(() => { for (const button of buttons) button.disabled = false; }, 1000);
  }
}

wait();
for (const event of ["focus", "blur"]) window.addEventListener(event, wait);
document.addEventListener("visibilitychange", wait);
