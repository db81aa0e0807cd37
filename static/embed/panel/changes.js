/** Applies changes of the page to the shown posts. A change contains the whole post, so a repeated one changes nothing. */

import { getMessage } from "./api.js";
import { add } from "./listing.js";
import { isDeleted } from "./post.js";
import { holdPlace } from "./scroll.js";

const COUNT_PAUSE_MS = 3000;
const COUNT_SPREAD_MS = 800;
const COUNTED_AT_ONCE = 5;
// An edited or deleted post that is not shown stays so.
const ADDING = ["message.created", "message.restored"];

export class Changes {
  constructor(thread, scroller) {
    Object.assign(this, { thread, scroller, uncounted: new Set(), isUnlisted: false, timer: 0, countedAt: 0 });
  }

  /** After a failed list no post is shown; the next list has these changes. */
  apply(changes) {
    if (this.thread.hasFailed) return;
    holdPlace(this.scroller, () => changes.forEach((change) => this.applyOne(change)));
    this.thread.settle();
  }

  applyOne({ type, messageId, message, reaction }) {
    if (!messageId) return this.countLater(null);
    if (!message) return this.withdraw(messageId, type);
    const post = this.thread.find(messageId);
    const isOfMessage = type.startsWith("message.");
    if (post) post.update(message);
    else if (!this.thread.news.update(message) && ADDING.includes(type)) this.add(message);
    if (post && reaction) post.reactions.changed(type, reaction);
    else if (reaction) this.thread.news.passed(message);
    if (isOfMessage) this.updateQuotes(messageId, message);
  }

  add(message) {
    if (!message.parentId) return add(this.thread, message);
    const { news } = this.thread;
    const parent = this.thread.find(message.parentId);
    if (parent && parent.replies.receive(message)) news.announce(message);
    else if (parent || news.messages.has(message.parentId)) this.countLater(message.parentId);
  }

  /** The author's own post that an edit or a report has put back to review stays, marked as such. */
  withdraw(id, type) {
    const post = this.thread.find(id);
    if (post && post.isPending && type !== "message.deleted") return;
    if (post) {
      post.withdraw();
      if (post.message.parentId) this.countLater(post.message.parentId);
    } else if (!this.thread.news.messages.delete(id)) {
      this.countLater(null);
    }
    this.updateQuotes(id, null);
  }

  updateQuotes(id, message) {
    const quote = !message || isDeleted(message) ? null : { id, content: message.content, author: message.author, createdAt: message.createdAt };
    const { news } = this.thread;
    for (const post of this.thread.all()) if (post.message.quoteId === id) post.update({ ...post.message, quote });
    for (const offered of news.messages.values()) if (offered.quoteId === id) news.update({ ...offered, quote });
  }

  /**
   * Load the counts of a post whose replies changed, which no change contains. `null`: a post that is not shown was
   * withdrawn, or posts were imported; the list has them. Requests are spread over a while, since all readers of the page send them.
   */
  countLater(id) {
    if (id) this.uncounted.add(id);
    else this.isUnlisted = true;
    if (this.timer) return;
    const pause = Math.max(0, this.countedAt + COUNT_PAUSE_MS - Date.now());
    this.timer = setTimeout(() => this.count(), pause + Math.random() * COUNT_SPREAD_MS);
  }

  async count() {
    const ids = [...this.uncounted].slice(0, COUNTED_AT_ONCE);
    ids.forEach((id) => this.uncounted.delete(id));
    const isUnlisted = this.isUnlisted;
    this.isUnlisted = false;
    await Promise.all([isUnlisted && this.thread.refresh(), ...ids.map((id) => this.countOne(id))]);
    this.timer = 0;
    this.countedAt = Date.now();
    for (const id of this.uncounted) this.countLater(id);
    if (this.isUnlisted) this.countLater(null);
  }

  async countOne(id) {
    try {
      const message = await getMessage(id);
      const post = this.thread.find(id);
      if (post) holdPlace(this.scroller, () => post.update(message));
      else this.thread.news.update(message);
    } catch {
      // The post was withdrawn, or the service is away: the next change or refresh brings the counts.
    }
  }
}
