/** Updates a thread by a list that was loaded again. */

/** If the list has no known post, posts are missing between the new ones and the shown ones. */
export function merge(thread, page) {
  const { posts, news } = thread;
  const { messages } = page;
  const isKnown = ({ id }) => posts.has(id) || news.messages.has(id);
  const hasGap = messages.length > 0 && !messages.some(isKnown);
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
  const isGone = ({ id, createdAt }) => !listed.has(id) && createdAt > oldest;
  for (const post of posts.values()) if (isGone(post.message)) post.withdraw();
  for (const message of news.messages.values()) if (isGone(message)) news.messages.delete(message.id);
}
