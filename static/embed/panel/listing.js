/** Shows lists of posts in a thread: the next ones are appended, one that was loaded again is merged, new ones are added. */

import { fill, h } from "./dom.js";
import { explain } from "./failures.js";
import { ORDERS, following, newestFirst } from "./order.js";

// So many posts are created in one task, and no other one after this time: between two tasks the browser draws and responds.
const POSTS_PER_TASK = 4;
const TASK_MS = 12;
const AT_ONCE = 20;
// The posts of one kind of authors are searched for in parts of a page: so many for one press.
const PARTS_AT_ONCE = 10;

const nextTask = () => (window.scheduler?.yield ? scheduler.yield() : new Promise((resolve) => setTimeout(resolve)));

/** Load a page of posts. Those of one kind of authors are collected from parts; an error ends that with what was found. */
export async function collect(thread, cursor) {
  const { run, kind } = thread;
  const messages = [];
  let nextCursor = cursor;
  for (let part = 0; part === 0 || (nextCursor && part < PARTS_AT_ONCE && messages.length < AT_ONCE); part++) {
    try {
      const page = await thread.fetch(nextCursor, AT_ONCE - messages.length);
      messages.push(...page.messages);
      nextCursor = page.nextCursor;
    } catch (failure) {
      if (part === 0) throw failure;
      break;
    }
    if (!kind || run !== thread.run) break;
  }
  return { messages, nextCursor };
}

/** Append posts, until the thread loads another list; returns those that were not shown before. */
export async function append(thread, messages) {
  const { run } = thread;
  const added = [];
  let inTask = 0;
  // The response may just have been parsed, in the same task.
  let end = 0;
  for (const message of messages) {
    if (inTask === POSTS_PER_TASK || performance.now() > end) {
      await nextTask();
      if (run !== thread.run) break;
      inTask = 0;
      end = performance.now() + TASK_MS;
    }
    if (thread.posts.has(message.id)) thread.posts.get(message.id).update(message);
    else added.push(thread.insert(message));
    inTask += 1;
  }
  return added;
}

/** Load and append the next posts, and focus the first of them. Until then, the button keeps the focus. */
export async function loadMore(thread) {
  const { run, more, notice, cursor } = thread;
  if (more.ariaDisabled === "true") return;
  more.ariaDisabled = "true";
  fill(notice);
  try {
    const page = await collect(thread, cursor);
    if (run !== thread.run) return;
    const [first] = await thread.append(page);
    if (!thread.posts.size && !thread.cursor) thread.showEmpty();
    if (first) first.element.focus({ preventScroll: true });
  } catch (failure) {
    if (run === thread.run) fill(notice, h("p", { class: "problem", role: "alert" }, explain(failure)));
  } finally {
    more.ariaDisabled = "false";
  }
}

/**
 * Put the button for the next posts where these will appear. A post that a link has named may follow them: the posts
 * before it are not loaded yet.
 */
export function placeMore({ posts, sort, element, list, more, lastLoaded }) {
  const next = lastLoaded && !more.hidden && following(posts, lastLoaded, ORDERS[sort]);
  if (next) list.insertBefore(more, next);
  else element.append(more);
}

/**
 * Newest first: if the list has no known post, posts are missing between the new ones and the shown ones. No list has
 * pending posts.
 */
export function merge(thread, page) {
  const { posts, news, sort } = thread;
  const { messages, nextCursor } = page;
  const isKnown = ({ id }) => posts.has(id) || news.messages.has(id);
  const listed = messages.filter((message) => !thread.isFirst(message));
  const hasGap = sort === "newest" && listed.length > 0 && !listed.some(isKnown) && [...posts.values()].some((post) => !post.isPending && !post.isPinned);
  const newest = [...posts.values()].map(({ message }) => message).reduce((best, message) => (best && newestFirst(best, message) ? best : message), null);
  removeUnlisted(thread, page);
  for (const post of posts.values()) if (post.isPinned && !messages.some(({ id }) => id === post.id)) place(thread, post, { ...post.message, pinned: false });
  for (const message of [...messages].reverse()) {
    if (posts.has(message.id)) place(thread, posts.get(message.id), message);
    else if (thread.isFirst(message)) pin(thread, message);
    else if (news.update(message)) continue;
    // An earlier post that has got more reactions is not new.
    else if (sort !== "reactions" || !newest || newestFirst(message, newest)) add(thread, message);
    else news.passed(message);
  }
  news.hasGap ||= hasGap;
  // Later posts than those of this list may not be shown yet.
  if (sort !== "oldest" || !nextCursor || thread.cursor) return;
  thread.lastLoaded = messages.at(-1) || thread.lastLoaded;
  thread.setCursor(nextCursor);
}

/** Remove posts in the range of the list that it does not have: they were hidden or deleted. */
function removeUnlisted({ posts, news, sort }, { messages, nextCursor }) {
  if (nextCursor && !messages.length) return; // The range is not known.
  const last = nextCursor ? messages.at(-1).createdAt : null;
  const inRange = {
    newest: ({ createdAt }) => !last || createdAt > last,
    oldest: ({ createdAt }) => !last || createdAt < last,
    reactions: () => !last,
  }[sort];
  const listed = new Set(messages.map(({ id }) => id));
  const isGone = (message) => !listed.has(message.id) && message.status !== "pending" && inRange(message);
  for (const post of posts.values()) if (isGone(post.message)) post.withdraw();
  for (const message of news.messages.values()) if (isGone(message)) news.messages.delete(message.id);
}

/**
 * Add a post that is not shown: to its place, if the posts before and after it are loaded; at the top of the newest, or if
 * its place is not known, to the new posts, which are offered.
 */
export function add(thread, message) {
  const { posts, news, sort, kind, cursor } = thread;
  if (kind && message.author.kind !== kind) return;
  const next = thread.next(message);
  const isFirst = !posts.size || (sort === "newest" && [...posts.values()].every((post) => post.isPinned || newestFirst(message, post.message)));
  const isPlaced = next || (sort !== "reactions" && !cursor);
  if (!isFirst && isPlaced) {
    const { element } = thread.insert(message);
    if (next) return;
    element.classList.add("fresh");
    news.announce(message);
  } else if (isFirst || sort !== "newest") {
    if (!news.messages.has(message.id)) news.announce(message);
    news.add(message);
  }
}

/** Show a post of the reader, and the place where it is: above the list, if its own place is not loaded or not known. */
export function showOwn(thread, message) {
  const isPinned = thread.sort === "reactions" || (thread.sort === "oldest" && thread.cursor !== null);
  const { element } = isPinned ? pin(thread, message) : thread.insert(message);
  if (thread.sort === "newest") thread.panel.toTop();
  element.scrollIntoView({ block: "nearest" });
}

/** Show a post above the list. */
export function pin(thread, message) {
  const first = thread.list.firstElementChild;
  const post = thread.insert(message);
  post.isPinned = true;
  if (first && first !== post.element) thread.list.insertBefore(post.element, first);
  return post;
}

/** Update a post. If it was pinned or unpinned, it moves: to the top, or back to its place. The focus in it stays. */
export function place(thread, post, message) {
  const isFirst = thread.isFirst(message);
  const isMoved = isFirst !== thread.isFirst(post.message);
  post.update(message);
  if (!isMoved) return;
  const { activeElement } = document;
  post.isPinned = isFirst;
  thread.list.insertBefore(post.element, isFirst ? thread.list.firstElementChild : thread.next(message));
  activeElement.focus({ preventScroll: true });
}
