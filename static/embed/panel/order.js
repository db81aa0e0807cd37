/** The order of posts. Their lists are short, so positions are found by comparing all posts. */

const isLater = (a, b) => (a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt);

export const newestFirst = isLater;
export const oldestFirst = (a, b) => isLater(b, a);

/** The element of the post that follows `message` in a list, or null. */
export function following(posts, message, precedes) {
  const later = [...posts.values()].filter((post) => precedes(message, post.message));
  const first = later.reduce((best, post) => (best && precedes(best.message, post.message) ? best : post), null);
  return first && first.element;
}
