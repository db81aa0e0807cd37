/** The thread as a part of the page around it: the frame is as high as its content, and the page scrolls. */

import { isInline, post } from "./host.js";

// At how many positions of a thread the shown part is measured.
const POSITIONS = 200;
// The part of the thread on the screen, in the coordinates of the frame; null: none.
let shown = null;

export function growWithThread(thread) {
  new ResizeObserver(postHeight).observe(document.body);
  const threshold = Array.from({ length: POSITIONS + 1 }, (_, at) => at / POSITIONS);
  const observer = new IntersectionObserver((entries) => {
    const { isIntersecting, intersectionRect } = entries.at(-1);
    shown = isIntersecting ? intersectionRect : null;
  }, { threshold });
  observer.observe(thread);
}

function postHeight() {
  post({ type: "height", height: Math.ceil(document.body.getBoundingClientRect().height) });
}

/** Whether new posts may appear at the top, because the reader sees it, or nothing of the thread. */
export function isAtTop(scroller) {
  if (!isInline) return scroller.scrollTop < 8;
  return !shown || shown.top < scroller.getBoundingClientRect().top + 8;
}

export function shownPart(scroller) {
  return (isInline && shown) || scroller.getBoundingClientRect();
}

export function scrollBy(scroller, by) {
  if (!isInline) scroller.scrollTop += by;
  else if (shown && by) {
    // The page can be scrolled when it is high enough.
    postHeight();
    post({ type: "scroll", by });
  }
}
