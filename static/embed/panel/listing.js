/** Shows lists of posts in a thread: the next ones are appended, one that was loaded again is merged. */

import { following, newestFirst } from "./order.js";

// So many posts are created in one task; between two tasks the browser draws and responds.
const POSTS_PER_TASK = 4;

const nextTask = () => (window.scheduler?.yield ? scheduler.yield() : new Promise((resolve) => setTimeout(resolve)));

/** Append posts, until the thread loads another list; returns those that were not shown before. */
export async function append(thread, messages) {
  const { run } = thread;
  const added = [];
  for (const message of messages) {
    if (thread.posts.has(message.id)) thread.posts.get(message.id).update(message);
    else added.push(thread.insert(message));
    if (added.length && added.length % POSTS_PER_TASK === 0) await nextTask();
    if (run !== thread.run) break;
  }
  return added;
}

/**
 * Put the button for the next posts where these will appear. A post that a link has named may follow them: the posts
 * before it are not loaded yet.
 */
export function placeMore({ posts, element, list, more, lastLoaded }) {
  const next = lastLoaded && !more.hidden && following(posts, lastLoaded, newestFirst);
  if (next) list.insertBefore(more, next);
  else element.append(more);
}

/** If the list has no known post, posts are missing between the new ones and the shown ones. No list has pending posts. */
export function merge(thread, page) {
  const { posts, news } = thread;
  const { messages } = page;
  const isKnown = ({ id }) => posts.has(id) || news.messages.has(id);
  const hasGap = messages.length > 0 && !messages.some(isKnown) && [...posts.values()].some((post) => !post.isPending);
  removeUnlisted(thread, page);
  for (const message of [...messages].reverse()) {
    if (posts.has(message.id)) posts.get(message.id).update(message);
    else if (!news.update(message)) thread.add(message);
  }
  news.hasGap ||= hasGap;
}

/** Remove posts in the time range of the list that it does not have: they were hidden or deleted. */
function removeUnlisted({ posts, news }, { messages, nextCursor }) {
  const oldest = nextCursor ? messages.at(-1).createdAt : "";
  const listed = new Set(messages.map(({ id }) => id));
  const isGone = ({ id, createdAt, status }) => !listed.has(id) && createdAt > oldest && status !== "pending";
  for (const post of posts.values()) if (isGone(post.message)) post.withdraw();
  for (const message of news.messages.values()) if (isGone(message)) news.messages.delete(message.id);
}
