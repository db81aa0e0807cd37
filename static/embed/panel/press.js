/** Delays changes of the layout until no press is under way: a press is lost if its element moves before the release. */

// The click follows the release; on touch screens the focus moves between these.
const SETTLE_MS = 100;
const waiting = [];
let isDown = false;

function released() {
  isDown = false;
  setTimeout(() => isDown || waiting.splice(0).forEach((work) => work()), SETTLE_MS);
}

addEventListener("pointerdown", () => { isDown = true; }, true);
for (const type of ["pointerup", "pointercancel"]) addEventListener(type, released, true);

/** Run `work` soon, after the click of a press that is under way. */
export function afterPress(work) {
  waiting.push(work);
  if (!isDown) released();
}
