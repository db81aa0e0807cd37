/** Changes of the thread that do not move what the reader looks at. */

import { isAtTop, scrollBy, shownPart } from "./inline.js";

const USED = ":is(a, button, summary, textarea):is(:focus, :hover)";

// Posts that are measured, however many the thread has.
const SHOWN_MAX = 30;
const ABOVE_MAX = 30;

/** Run `work`, then scroll so that the focused element, else the first post on the screen, is where it was. */
export function holdPlace(scroller, work) {
  const places = landmarks(scroller).map((node) => [node, topOf(node)]);
  work();
  const place = places.find(([node]) => node.isConnected);
  if (place) scrollBy(scroller, topOf(place[0]) - place[1]);
}

/** The focused element, the posts that begin on the screen, and some of those that begin above it, nearest first. */
function landmarks(scroller) {
  const { top, bottom } = shownPart(scroller);
  const isShown = (node) => topOf(node) >= top && topOf(node) < bottom;
  const posts = scroller.querySelectorAll("article");
  const first = firstFrom(posts, top);
  let end = first;
  while (end < posts.length && end < first + SHOWN_MAX && topOf(posts[end]) < bottom) end += 1;
  const focused = [...scroller.querySelectorAll(":focus")].filter(isShown);
  return [...focused, ...[...posts].slice(first, end), ...[...posts].slice(Math.max(0, first - ABOVE_MAX), first).reverse()];
}

/** The index of the first post that begins at or below `top`: in their order, each begins below the one before it. */
function firstFrom(posts, top) {
  let [low, high] = [0, posts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (topOf(posts[middle]) < top) low = middle + 1;
    else high = middle;
  }
  return low;
}

const topOf = (node) => node.getBoundingClientRect().top;

/** Whether posts may appear above the others: the reader is at the top, and uses no control and selects no text there. */
export function canGrow(scroller) {
  const selection = getSelection();
  const isSelecting = !selection.isCollapsed && scroller.contains(selection.anchorNode);
  return isAtTop(scroller) && !isSelecting && !scroller.querySelector(USED);
}

/** Whether an element contains a text field with the focus or with text. */
export function isWriting(element) {
  return [...element.querySelectorAll("textarea")].some((area) => area.value || area === document.activeElement);
}
