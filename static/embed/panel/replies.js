/** The replies to one post: initially the top reply, on request all of them, oldest first. */

import { listMessages } from "./api.js";
import { h } from "./dom.js";
import { explain } from "./failures.js";
import { following, oldestFirst } from "./order.js";
import { pendingPosts } from "./own.js";
import { isWriting } from "./scroll.js";
import { t } from "./words.js";

const AT_ONCE = 20;
// One press opens a chain of single replies down to this many lists.
const LISTS_OF_CHAIN = 10;

const isPublic = ({ message }) => message.status !== "pending";

export class Replies {
  /** `createPost(message)` returns the `Post` of a reply. */
  constructor(parent, createPost, depth) {
    Object.assign(this, { parent, createPost, depth, posts: new Map(), cursor: null, open: false });
    this.more = h("button", { type: "button", class: "quiet more", onclick: () => this.load() });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.list = h("div", { class: "list" }, this.more, this.problem);
    this.element = h("div", { class: `replies depth-${Math.min(depth, 3)}` }, this.list);
    if (parent.topReply) this.add(parent.topReply);
    this.addPending();
  }

  get hiddenCount() {
    return this.parent.replyCount - [...this.posts.values()].filter(isPublic).length;
  }

  update(parent) {
    this.parent = { ...parent, topReply: this.parent.topReply };
    if (!this.open && !this.posts.size && parent.topReply) this.add(parent.topReply);
    if (parent.topReply && this.posts.has(parent.topReply.id)) this.posts.get(parent.topReply.id).update(parent.topReply);
    this.label();
  }

  label() {
    this.more.hidden = this.open ? !this.cursor : this.hiddenCount <= 0;
    this.more.textContent = t(this.posts.size ? "panel.more_replies" : "panel.replies", { n: Math.max(1, this.hiddenCount) });
    this.element.hidden = this.more.hidden && !this.posts.size;
    const next = this.placeOfMore();
    if (this.problem.nextSibling !== next) this.list.insertBefore(this.more, next).after(this.problem);
  }

  /** The post before which the hidden replies will appear. A top reply without reactions is the oldest reply. */
  placeOfMore() {
    const [top] = this.posts.values();
    const previous = this.open ? this.lastLoaded : top && !top.message.reactionTotal && top.message;
    return following(this.posts, previous || { id: "", createdAt: "" }, oldestFirst);
  }

  /** Load the next replies, and a chain of single replies to the end: it is read as one. */
  async load(lists = LISTS_OF_CHAIN) {
    if (this.isLoading) return;
    this.isLoading = true;
    this.problem.hidden = true;
    if (lists < LISTS_OF_CHAIN) this.more.hidden = true;
    const hadFocus = this.more === document.activeElement;
    try {
      const [first] = await this.loadPage();
      this.label();
      if (hadFocus && first) first.element.focus({ preventScroll: true });
      await this.openChain(lists - 1);
    } catch (failure) {
      this.problem.textContent = explain(failure);
      this.problem.hidden = false;
    }
    this.isLoading = false;
    this.label();
  }

  /** Returns the posts that were not shown before. */
  async loadPage() {
    const query = { pageId: this.parent.pageId, parentId: this.parent.id, limit: AT_ONCE, sort: "oldest", includeTopReply: true, cursor: this.cursor };
    const { messages, nextCursor } = await listMessages(query);
    const known = new Set(this.posts.keys());
    const posts = messages.map((message) => this.add(message));
    this.cursor = nextCursor;
    this.lastLoaded = messages.at(-1) || this.lastLoaded;
    if (!this.open && nextCursor) this.dropTop(posts);
    this.open = true;
    return posts.filter(({ id }) => !known.has(id));
  }

  /** A top reply that follows replies which are not loaded appears with these. */
  dropTop(loaded) {
    for (const post of [...this.posts.values()]) {
      const isUsed = isWriting(post.element) || post.element.contains(document.activeElement);
      if (isPublic(post) && !loaded.includes(post) && !isUsed) {
        post.element.remove();
        this.posts.delete(post.id);
      }
    }
  }

  /** Load the replies to a single reply. */
  async openChain(lists) {
    const [only, second] = this.posts.values();
    if (!only || second || this.cursor || lists < 1) return;
    const { replies } = only;
    if (replies.posts.size) await replies.openChain(lists);
    else if (replies.hiddenCount === 1) await replies.load(lists);
  }

  /** Show a reply of the reader, with those before it. `hasFocus`: whether it gets the focus. */
  async append(message, { hasFocus }) {
    const hasHidden = !this.open && this.hiddenCount > 0;
    if (!this.posts.has(message.id) && message.status !== "pending") this.parent.replyCount += 1;
    if (hasHidden) await this.load(1);
    const { element } = this.add(message);
    this.label();
    if (!hasFocus) return;
    element.scrollIntoView({ block: "nearest" });
    element.focus({ preventScroll: true });
  }

  /** Show a reply that a link has named, with the first replies. Those between them can be loaded. */
  async reveal(message) {
    if (!this.open && !this.posts.has(message.id)) await this.load(1);
    this.add(message);
    this.label();
  }

  /** Show a reply of another reader if no reply before it is hidden; returns whether it is shown. */
  receive(message) {
    const isShown = this.open || this.hiddenCount <= 0;
    if (isShown) {
      this.add(message).element.classList.add("fresh");
      this.label();
    }
    return isShown;
  }

  /** A public reply that disappears is not counted any more, before the next change or list has the count. */
  remove(id) {
    const post = this.posts.get(id);
    if (post && isPublic(post)) this.parent.replyCount -= 1;
    this.posts.delete(id);
    this.label();
  }

  /** Show the replies that await review. */
  addPending() {
    const messages = pendingPosts(this.parent.pageId).filter(({ id, parentId }) => parentId === this.parent.id && !this.posts.has(id));
    messages.forEach((message) => this.add(message));
    this.label();
  }

  /** Insert a reply in the order of time; a reply that is shown already is updated. */
  add(message) {
    const known = this.posts.get(message.id);
    if (known) {
      known.update(message);
      return known;
    }
    const post = this.createPost(message);
    post.owner = this;
    this.list.insertBefore(post.element, following(this.posts, message, oldestFirst));
    this.posts.set(message.id, post);
    return post;
  }
}
