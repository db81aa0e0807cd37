/** The reader's own reactions to the posts of the page, and posts that await review. */

import { getMessage, listOwnReactions } from "./api.js";
import { load, store } from "./memory.js";
import { current, fresh } from "./session.js";

const PENDING_MAX = 20;

export class OwnReactions {
  constructor() {
    Object.assign(this, { byPost: new Map(), pressed: new Set(), run: 0 });
  }

  of(messageId) {
    return this.byPost.get(messageId) || null;
  }

  set(messageId, emoji) {
    this.byPost.set(messageId, emoji);
    this.pressed.add(messageId);
  }

  /** Load them again. A press while they are loading is later than the list. */
  async load(pageId) {
    const run = ++this.run;
    this.pressed.clear();
    if (!current() || !pageId) return this.byPost.clear();
    const session = await fresh();
    const reactions = session ? await listOwnReactions(session, pageId) : [];
    if (run !== this.run) return;
    const later = [...this.byPost].filter(([id]) => this.pressed.has(id));
    this.byPost = new Map([...reactions.map(({ messageId, emoji }) => [messageId, emoji]), ...later]);
  }
}

const nameOf = ({ userId }, pageId) => `pending ${userId} ${pageId}`;

// Posts that await review, for a moderator.
let held = [];

export function setHeld(messages) {
  held = messages;
}

/** The posts of the signed-in reader that await review. The service shows them to nobody, so the browser stores them. */
function ownPending(pageId) {
  const session = current();
  return (session && load(nameOf(session, pageId))) || [];
}

/** These posts, and for a moderator those of others. */
export function pendingPosts(pageId) {
  const ofPage = held.filter((message) => message.pageId === pageId);
  return [...ofPage, ...ownPending(pageId).filter(({ id }) => ofPage.every((message) => message.id !== id))];
}

function setPending(pageId, messages) {
  const session = current();
  if (session) store(nameOf(session, pageId), messages.length ? messages : null);
}

export function addPending(message) {
  const others = ownPending(message.pageId).filter(({ id }) => id !== message.id);
  setPending(message.pageId, [...others, message].slice(-PENDING_MAX));
}

/** A post does not await review any more. */
export function settlePending({ id, pageId }) {
  const messages = ownPending(pageId);
  held = held.filter((message) => message.id !== id);
  const others = messages.filter((message) => message.id !== id);
  if (others.length < messages.length) setPending(pageId, others);
}

/** Forget the posts that were published since they were stored. */
export async function reviewPending(pageId) {
  const isPublished = ({ id }) => getMessage(id).then(() => true, () => false);
  await Promise.all(ownPending(pageId).map(async (message) => (await isPublished(message)) && settlePending(message)));
}
