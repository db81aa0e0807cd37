/** Changes of the thread that do not move what the reader looks at. */

import { isAtTop, scrollBy, shownPart } from "./inline.js";

const USED = ":is(a, button, summary, textarea):is(:focus, :hover)";

/** Run `work`, then scroll so that the focused element, else the first post on the screen, is where it was. */
export function holdPlace(scroller, work) {
  const places = landmarks(scroller).map((node) => [node, topOf(node)]);
  work();
  const place = places.find(([node]) => node.isConnected);
  if (place) scrollBy(scroller, topOf(place[0]) - place[1]);
}

/** The focused element, the posts that begin on the screen, and those that begin above it, nearest first. */
function landmarks(scroller) {
  const { top, bottom } = shownPart(scroller);
  const isShown = (node) => topOf(node) >= top && topOf(node) < bottom;
  const posts = [...scroller.querySelectorAll("article")];
  const focused = [...scroller.querySelectorAll(":focus")].filter(isShown);
  return [...focused, ...posts.filter(isShown), ...posts.filter((post) => topOf(post) < top).reverse()];
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
