/** Shows in a thread what the reader wrote: new posts, and those that await review. */

import { count } from "./analytics.js";
import { pin, showOwn } from "./listing.js";
import { postPosted } from "./host.js";
import { addPending, pendingPosts, settlePending } from "./own.js";
import { t } from "./words.js";

/** Show a new post in the thread, unless that has opened another page. A reply is shown by the post that it answers. */
export function showWritten(thread, message) {
  const { panel, news } = thread;
  const isPending = message.status === "pending";
  count(message.parentId ? "reply_created" : "post_created");
  postPosted(message);
  panel.announce(t(isPending ? "panel.pending" : "panel.published"));
  if (isPending) addPending(message);
  if (message.parentId || message.pageId !== thread.pageId) return;
  if (thread.hasFailed) return thread.reload();
  news.messages.delete(message.id);
  news.label();
  showOwn(thread, message);
}

/** Show the reader's posts that await review, and remove those of a person who has signed out. */
export function showPending(thread) {
  if (thread.hasFailed || !thread.isLoaded) return;
  const messages = pendingPosts(thread.pageId);
  const ids = new Set(messages.map(({ id }) => id));
  for (const post of [...thread.all()]) {
    if (!post.isPending && ids.has(post.id)) settlePending(post.message);
    if (post.isPending && !ids.has(post.id)) post.withdraw();
    post.replies.addPending();
  }
  const isShown = thread.kind !== "agent";
  for (const message of messages) if (isShown && !message.parentId && !thread.posts.has(message.id)) (thread.sort === "newest" ? thread.insert(message) : pin(thread, message));
}
