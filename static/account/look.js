// The form of a site's look: the frame beside it shows what is chosen, before it is saved.
const form = document.getElementById("look");
const preview = document.querySelector(".preview");
const frame = preview.querySelector("iframe");
const PAUSE = 120;
let timer = 0;

function show() {
  const { type, position, size, color, message } = Object.fromEntries(new FormData(form));
  const look = { type, position, size, color, message: message.trim() };
  frame.contentWindow.postMessage({ type: "look", look }, location.origin);
}

preview.hidden = false;
frame.addEventListener("load", show);
show();
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(show, PAUSE);
});
