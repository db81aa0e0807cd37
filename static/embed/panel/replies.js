/** The replies to one post: initially the top reply, on request all of them, oldest first. */

import { listMessages } from "./api.js";
import { h } from "./dom.js";
import { explain } from "./failures.js";
import { following, oldestFirst } from "./order.js";
import { t } from "./words.js";

const AT_ONCE = 20;

export class Replies {
  /** `createPost(message)` returns the `Post` of a reply. */
  constructor(parent, createPost, depth) {
    Object.assign(this, { parent, createPost, depth, posts: new Map(), cursor: null, open: false });
    this.more = h("button", { type: "button", class: "quiet more", onclick: () => this.load() });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.list = h("div", { class: "list" });
    this.element = h("div", { class: `replies depth-${Math.min(depth, 3)}` }, this.more, this.problem, this.list);
    if (parent.topReply) this.add(parent.topReply);
    this.label();
  }

  update(parent) {
    this.parent = { ...parent, topReply: this.parent.topReply };
    if (!this.open && !this.posts.size && parent.topReply) this.add(parent.topReply);
    if (parent.topReply && this.posts.has(parent.topReply.id)) this.posts.get(parent.topReply.id).update(parent.topReply);
    this.label();
  }

  label() {
    const hidden = this.parent.replyCount - this.posts.size;
    this.more.hidden = this.open ? !this.cursor : hidden <= 0;
    this.more.textContent = this.open ? t("panel.earlier_replies") : t(this.posts.size ? "panel.more_replies" : "panel.replies", { n: hidden });
    this.element.hidden = this.more.hidden && !this.posts.size;
  }

  async load() {
    this.problem.hidden = true;
    const focused = this.element.contains(document.activeElement);
    try {
      const query = { pageId: this.parent.pageId, parentId: this.parent.id, limit: AT_ONCE, cursor: this.cursor };
      const { messages, nextCursor } = await listMessages(query);
      this.cursor = nextCursor;
      this.open = true;
      const first = messages.reverse().map((message) => this.add(message)).at(0);
      if (focused && first) first.element.focus({ preventScroll: true });
    } catch (failure) {
      this.problem.textContent = explain(failure);
      this.problem.hidden = false;
    }
    this.label();
  }

  append(message) {
    if (!this.posts.has(message.id)) this.parent.replyCount += 1;
    this.add(message).element.scrollIntoView({ block: "nearest" });
    this.label();
  }

  /** Show a reply of another reader if all replies are shown; returns whether it is. */
  receive(message) {
    const isShown = this.open || (!this.posts.size && !this.parent.replyCount);
    if (isShown) {
      this.add(message).element.classList.add("fresh");
      this.label();
    }
    return isShown;
  }

  remove(id) {
    this.posts.delete(id);
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
