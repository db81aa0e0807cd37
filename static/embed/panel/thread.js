/** The posts of one page: loads them, loads more, and refreshes without moving the visible posts. */

import { count } from "./analytics.js";
import { listMessages, pageIdOf } from "./api.js";
import { fill, h } from "./dom.js";
import { explain } from "./failures.js";
import { Post } from "./post.js";
import { settings, t } from "./words.js";

const AT_ONCE = 20;

export class Thread {
  /** `panel`: see main.js. */
  constructor(panel) {
    Object.assign(this, { panel, posts: new Map(), waiting: [], cursor: null, kind: "", pageId: null, run: 0 });
    this.list = h("div", { class: "list" });
    this.notice = h("div", { class: "notice" });
    this.more = h("button", { type: "button", class: "wide", hidden: true, onclick: () => this.loadMore() }, t("panel.more"));
    this.news = h("button", { type: "button", class: "news", hidden: true, onclick: () => this.showNews() });
    this.element = h("div", { class: "thread" }, this.news, this.list, this.notice, this.more);
  }

  /** Show the posts of a page from the newest. */
  async open(url) {
    this.url = url;
    this.pageId = null;
    this.panel.pageChanged();
    await this.reload();
  }

  setKind(kind) {
    this.kind = kind;
    return this.reload();
  }

  async reload() {
    const run = ++this.run;
    this.posts.clear();
    this.waiting = [];
    this.cursor = null;
    fill(this.list, skeletons());
    fill(this.notice);
    this.more.hidden = this.news.hidden = true;
    this.element.setAttribute("aria-busy", "true");
    try {
      const known = this.pageId || (await pageIdOf(this.url));
      if (run !== this.run) return;
      if (!this.pageId) {
        this.pageId = known;
        this.panel.pageChanged();
      }
      const page = await this.fetch();
      if (run !== this.run) return;
      fill(this.list);
      this.append(page);
      if (!this.posts.size) this.showEmpty();
    } catch (failure) {
      if (run === this.run) this.showFailure(failure);
    }
    if (run === this.run) this.element.setAttribute("aria-busy", "false");
  }

  fetch(cursor) {
    return listMessages({ pageId: this.pageId, limit: AT_ONCE, includeTopReply: true, authorKind: this.kind, cursor });
  }

  append({ messages, nextCursor }) {
    const added = messages.filter(({ id }) => !this.posts.has(id)).map((message) => this.createPost(message));
    this.list.append(...added.map((post) => post.element));
    this.cursor = nextCursor;
    this.more.hidden = !nextCursor;
    return added;
  }

  createPost(message) {
    const post = new Post(message, this.panel);
    this.posts.set(post.id, post);
    return post;
  }

  async loadMore() {
    const run = this.run;
    this.more.disabled = true;
    fill(this.notice);
    try {
      const page = await this.fetch(this.cursor);
      if (run !== this.run) return;
      const [first] = this.append(page);
      if (first) first.element.focus({ preventScroll: true });
    } catch (failure) {
      if (run === this.run) fill(this.notice, h("p", { class: "problem", role: "alert" }, explain(failure)));
    } finally {
      this.more.disabled = false;
    }
  }

  /** Update counts; new posts are added by a button, so that the posts being read do not move. */
  async refresh() {
    const run = this.run;
    if (!this.pageId || this.element.getAttribute("aria-busy") === "true") return;
    try {
      const { messages } = await this.fetch();
      if (run !== this.run) return;
      this.removeUnlisted(messages);
      messages.filter(({ id }) => this.posts.has(id)).forEach((message) => this.posts.get(message.id).update(message));
      this.queueNews(messages);
    } catch {
      // The next refresh retries; the shown posts stay.
    }
  }

  /** Messages above the first known post are new. If none is known, older posts are missing below them (`gap`). */
  queueNews(messages) {
    const known = messages.findIndex(({ id }) => this.posts.has(id));
    this.waiting = known < 0 ? messages : messages.slice(0, known);
    this.gap = known < 0 && this.posts.size > 0;
    if (!this.posts.size && messages.length) return this.insertNews();
    this.news.hidden = !this.waiting.length;
    this.news.textContent = t("panel.news", { n: this.waiting.length });
  }

  /** Remove posts in the time range of the response that the response does not list: they were hidden or deleted. */
  removeUnlisted(messages) {
    const oldest = messages.length < AT_ONCE ? "" : messages.at(-1).createdAt;
    const listed = new Set(messages.map(({ id }) => id));
    for (const [id, post] of this.posts) {
      if (listed.has(id) || post.message.createdAt <= oldest || post.element.contains(document.activeElement)) continue;
      post.element.remove();
      this.posts.delete(id);
    }
  }

  async showNews() {
    if (this.gap) await this.reload();
    else this.insertNews();
    this.panel.toTop();
    const [first] = this.list.children;
    if (first) first.focus({ preventScroll: true });
  }

  insertNews() {
    fill(this.notice);
    const posts = this.waiting.filter(({ id }) => !this.posts.has(id)).map((message) => this.createPost(message));
    this.list.prepend(...posts.map((post) => post.element));
    this.waiting = [];
    this.news.hidden = true;
  }

  /** Show the new post of the reader. */
  published(message) {
    count(message.parentId ? "reply_created" : "post_created");
    if (message.status !== "published") return this.panel.announce(t("panel.pending"));
    this.panel.announce(t("panel.published"));
    if (message.parentId || this.posts.has(message.id)) return;
    fill(this.notice);
    this.list.prepend(this.createPost(message).element);
    this.panel.toTop();
  }

  showEmpty() {
    const text = this.kind ? t("panel.none_of_kind") : t("panel.empty_text");
    fill(this.notice, h("h2", {}, t("panel.empty")), h("p", {}, text));
  }

  showFailure(failure) {
    fill(this.list);
    const again = h("button", { type: "button", class: "primary", onclick: () => this.reload() }, t("panel.retry"));
    fill(this.notice, h("div", { role: "alert" }, h("h2", {}, t("panel.broken")), h("p", {}, explain(failure))), again);
  }

  tick() {
    this.posts.forEach((post) => post.tick());
  }
}

function skeletons() {
  const one = () => h("div", { class: "skeleton", "aria-hidden": true }, h("i"), h("i"), h("i"));
  return [h("p", { class: "hidden-text" }, t("panel.loading")), one(), one(), one()];
}

export const refreshEvery = Math.max(5, settings.pollSeconds) * 1000;
