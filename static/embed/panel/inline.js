/** The thread as a part of the page around it: the frame is as high as its content, and the page scrolls. */

import { isInline, post } from "./host.js";

const MEASURE_PAUSE_MS = 100;
// The part of the thread on the screen, in the coordinates of the frame; null: none.
let shown = null;

// What the page knows.
let height = 0;
let loaded = false;
// Whether the thread has its posts.
let isLoaded = () => false;

/** `scroller` has the thread; `hasPosts()`: whether its posts are loaded, if there are any. */
export function growWithThread(scroller, hasPosts) {
  isLoaded = hasPosts;
  new ResizeObserver(postHeight).observe(document.body);
  // Browsers do not draw a frame beyond the screen, and report no new sizes of it; but the page should know its height.
  new MutationObserver(() => measureSoon()).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  const observer = new IntersectionObserver((entries) => {
    const { isIntersecting, intersectionRect } = entries.at(-1);
    shown = isIntersecting ? intersectionRect : null;
    if (!shown) return;
    // Browsers report no change that leaves the size of the part as it is, but the first state of what is observed.
    observer.unobserve(scroller);
    setTimeout(() => observer.observe(scroller), MEASURE_PAUSE_MS);
  });
  observer.observe(scroller);
}

function measureSoon() {
  clearTimeout(measureSoon.timer);
  measureSoon.timer = setTimeout(postHeight);
}

function postHeight() {
  const current = Math.ceil(document.body.getBoundingClientRect().height);
  if (current === height && loaded === isLoaded()) return;
  height = current;
  loaded = isLoaded();
  post({ type: "height", height, loaded });
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
