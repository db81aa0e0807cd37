/** The orders of posts. Their lists are short, so positions are found by comparing all posts. */

const isLater = (a, b) => (a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt);

export const newestFirst = isLater;
export const oldestFirst = (a, b) => isLater(b, a);

/**
 * By the `sort` of listMessages: whether one message precedes another. By reactions, whose counts change while they are
 * read, a post stays where it is, and the next ones follow the last.
 */
export const ORDERS = { newest: newestFirst, oldest: oldestFirst, reactions: () => false };

/** The element of the post that follows `message` in a list, or null. Posts above the list (`isPinned`) are left out. */
export function following(posts, message, precedes) {
  const later = [...posts.values()].filter((post) => !post.isPinned && precedes(message, post.message));
  const first = later.reduce((best, post) => (best && precedes(best.message, post.message) ? best : post), null);
  return first && first.element;
}
