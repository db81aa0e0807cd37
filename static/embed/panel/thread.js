/** The posts of one page: loads them, loads more, and updates them without moving those on the screen. */

import { listMessages, pageIdOf } from "./api.js";
import { fill, h } from "./dom.js";
import { explain } from "./failures.js";
import { append, merge, placeMore } from "./listing.js";
import { News } from "./news.js";
import { emptyNotice, failureNotice, skeletons } from "./notices.js";
import { following, newestFirst } from "./order.js";
import { Post } from "./post.js";
import { Retry } from "./retry.js";
import { holdPlace } from "./scroll.js";
import { t } from "./words.js";
import { showPending } from "./written.js";

const AT_ONCE = 20;

export class Thread {
  /** `panel`: see main.js. */
  constructor(panel) {
    Object.assign(this, { panel, posts: new Map(), cursor: null, kind: "", pageId: null, run: 0, loaded: null, hasFailed: false, isLoaded: false });
    this.retry = new Retry(() => this.reload({ quietly: true }));
    this.list = h("div", { class: "list" });
    this.notice = h("div", { class: "notice" });
    this.more = h("button", { type: "button", class: "wide", hidden: true, onclick: () => this.loadMore() }, t("panel.more"));
    this.news = new News(this);
    this.element = h("div", { class: "thread" }, this.news.status, this.news.button, this.list, this.notice, this.more);
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

  /** All shown posts with their shown replies. */
  *all(posts = this.posts) {
    for (const post of posts.values()) {
      yield post;
      yield* this.all(post.replies.posts);
    }
  }

  find(id) {
    for (const post of this.all()) if (post.id === id) return post;
    return undefined;
  }

  reload({ quietly = false } = {}) {
    if (!quietly) this.clear();
    this.loaded = this.load();
    return this.loaded;
  }

  clear() {
    this.retry.stop();
    this.posts.clear();
    this.news.reset();
    Object.assign(this, { cursor: null, isLoaded: false });
    fill(this.list, skeletons());
    fill(this.notice);
    this.more.hidden = true;
  }

  /** Returns whether the list was loaded, or the result of a later call that replaced this one. */
  async load() {
    const run = ++this.run;
    this.element.setAttribute("aria-busy", "true");
    try {
      const known = this.pageId || (await pageIdOf(this.url));
      if (run !== this.run) return this.loaded;
      if (!this.pageId) {
        this.pageId = known;
        await this.panel.pageChanged();
        if (run !== this.run) return this.loaded;
      }
      const page = await this.fetch();
      if (run !== this.run) return this.loaded;
      await this.show(page);
      if (run !== this.run) return this.loaded;
    } catch (failure) {
      if (run !== this.run) return this.loaded;
      this.showFailure(failure);
    }
    this.element.setAttribute("aria-busy", "false");
    return !this.hasFailed;
  }

  fetch(cursor) {
    return listMessages({ pageId: this.pageId, limit: AT_ONCE, includeTopReply: true, authorKind: this.kind, cursor });
  }

  async show(page) {
    const { run } = this;
    Object.assign(this, { hasFailed: false, isLoaded: true });
    this.retry.stop();
    // A post that was published while the list was loading.
    this.posts.clear();
    fill(this.list);
    fill(this.notice);
    await this.append(page);
    if (run !== this.run) return;
    showPending(this);
    if (!this.posts.size) this.showEmpty();
    this.panel.shown();
  }

  async append({ messages, nextCursor }) {
    const { run } = this;
    const added = await append(this, messages);
    if (run !== this.run) return [];
    this.cursor = nextCursor;
    this.lastLoaded = messages.at(-1);
    this.more.hidden = !nextCursor;
    placeMore(this);
    return added;
  }

  createPost(message) {
    const post = new Post(message, this.panel);
    post.owner = this;
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
      const [first] = await this.append(page);
      if (first) first.element.focus({ preventScroll: true });
    } catch (failure) {
      if (run === this.run) fill(this.notice, h("p", { class: "problem", role: "alert" }, explain(failure)));
    } finally {
      this.more.disabled = false;
    }
  }

  /**
   * Load the list again: update the posts, remove those that are not listed, and show or offer new ones. Returns whether
   * it was loaded.
   */
  async refresh() {
    await this.loaded;
    const run = this.run;
    if (!this.pageId) return this.url ? this.reload({ quietly: true }) : false;
    try {
      const page = await this.fetch();
      if (run !== this.run) return this.loaded;
      if (!this.posts.size) await this.show(page);
      else this.update(page);
      return true;
    } catch {
      // The next refresh retries; the shown posts stay.
      return false;
    }
  }

  update(page) {
    holdPlace(this.panel.scroller, () => merge(this, page));
    this.settle();
  }

  /** Show or offer the new posts. If no post is left, older ones than the removed may be listed now. */
  settle() {
    this.news.show();
    if (this.posts.size) return;
    if (this.cursor) this.reload();
    else this.showEmpty();
  }

  /** Add a post that is not shown: to the new posts, or to its place among the shown ones. */
  add(message) {
    if (this.kind && message.author.kind !== this.kind) return;
    const next = following(this.posts, message, newestFirst);
    if (!this.posts.size || (next && next === this.list.firstElementChild)) {
      if (!this.news.messages.has(message.id)) this.news.announce(message);
      this.news.add(message);
    } else if (next || !this.cursor) {
      this.insert(message);
    }
  }

  insert(message) {
    if (this.posts.has(message.id)) return this.posts.get(message.id);
    fill(this.notice);
    const next = following(this.posts, message, newestFirst);
    const post = this.createPost(message);
    this.list.insertBefore(post.element, next);
    return post;
  }

  remove(id) {
    this.posts.delete(id);
  }

  showEmpty() {
    fill(this.notice, emptyNotice(this.kind));
  }

  showFailure(failure) {
    const isRepeated = this.hasFailed && this.notice.firstChild && this.failure === failure.code;
    Object.assign(this, { hasFailed: true, failure: failure.code });
    const isRetried = this.retry.after(failure);
    if (isRepeated) return; // An alert that is filled again is read again.
    fill(this.list);
    fill(this.notice, failureNotice(failure, isRetried, () => this.reload()));
  }
}
