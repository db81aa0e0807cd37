/** The posts of one page: loads them, loads more, and updates them without moving those on the screen. */

import { listMessages, pageIdOf } from "./api.js";
import { fill, h } from "./dom.js";
import { append, collect, loadMore, merge, placeMore } from "./listing.js";
import { load, store } from "./memory.js";
import { News } from "./news.js";
import { emptyNotice, failureNotice, skeletons } from "./notices.js";
import { ORDERS, following } from "./order.js";
import { Post } from "./post.js";
import { Retry } from "./retry.js";
import { holdPlace } from "./scroll.js";
import { t } from "./words.js";
import { showPending } from "./written.js";

export class Thread {
  /** `panel`: see main.js. */
  constructor(panel) {
    Object.assign(this, { panel, posts: new Map(), cursor: null, kind: "", sort: load("sort") in ORDERS ? load("sort") : "newest", pageId: null, run: 0, loaded: null, hasFailed: false, isLoaded: false, isSearching: false });
    this.retry = new Retry(() => this.reload({ quietly: true }));
    this.list = h("div", { class: "list" });
    this.notice = h("div", { class: "notice" });
    this.more = h("button", { type: "button", class: "wide", hidden: true, onclick: () => loadMore(this) }, t("panel.more"));
    this.news = new News(this);
    this.element = h("div", { class: "thread" }, this.news.status, this.news.button, this.list, this.notice, this.more);
  }

  /** Show the posts of another page. Its id may be known already. */
  async open(url, pageId) {
    this.url = url;
    this.pageId = null;
    this.panel.pageChanged();
    await this.reload({ pageId });
  }

  /** Show other posts, or another order, which is remembered: `{ kind, sort }`. */
  choose(choice) {
    Object.assign(this, choice);
    store("sort", this.sort === "newest" ? null : this.sort, true);
    this.panel.chosen(this);
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

  reload({ quietly = false, pageId = null } = {}) {
    if (!quietly) this.clear();
    this.loaded = this.load(pageId);
    return this.loaded;
  }

  clear() {
    this.retry.stop();
    this.posts.clear();
    this.news.reset();
    Object.assign(this, { cursor: null, isLoaded: false, isSearching: false, lastLoaded: undefined });
    fill(this.list, skeletons());
    fill(this.notice);
    this.more.hidden = true;
  }

  /** Returns whether the list was loaded, or the result of a later call that replaced this one. */
  async load(pageId) {
    const run = ++this.run;
    this.element.setAttribute("aria-busy", "true");
    try {
      const known = this.pageId || pageId || (await pageIdOf(this.url));
      if (run !== this.run) return this.loaded;
      if (!this.pageId) {
        this.pageId = known;
        await this.panel.pageChanged();
        if (run !== this.run) return this.loaded;
      }
      const page = await collect(this);
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

  fetch(cursor, limit) {
    return listMessages({ pageId: this.pageId, limit, includeTopReply: true, authorKind: this.kind, sort: this.sort === "newest" ? "" : this.sort, cursor });
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
    if (!this.posts.size && !this.cursor) this.showEmpty();
    this.panel.shown();
  }

  async append({ messages, nextCursor }) {
    const { run } = this;
    const added = await append(this, messages);
    if (run !== this.run) return [];
    this.lastLoaded = messages.at(-1) || this.lastLoaded;
    // Posts of the chosen kind may follow. Without a post because those shown were removed, the list is loaded again.
    this.isSearching = !this.posts.size && Boolean(nextCursor);
    this.setCursor(nextCursor);
    return added;
  }

  setCursor(cursor) {
    this.cursor = cursor;
    this.more.hidden = !cursor;
    placeMore(this);
    this.panel.counted(this);
  }

  createPost(message) {
    const post = new Post(message, this.panel);
    Object.assign(post, { owner: this, isPinned: this.isFirst(message) });
    this.posts.set(post.id, post);
    return post;
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
      const page = await collect(this);
      if (run !== this.run) return this.loaded;
      if (this.isSearching && !page.messages.length) return true; // The search goes on where it is.
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
    if (this.posts.size || this.isSearching) return;
    if (this.cursor) this.reload();
    else this.showEmpty();
  }

  /** Whether a message is above the list. With a filter, pinned posts are in their places. */
  isFirst({ pinned }) {
    return !this.kind && Boolean(pinned);
  }

  /** The element of the shown post before which a message belongs, or null. */
  next(message) {
    return following(this.posts, message, this.isFirst(message) ? () => true : ORDERS[this.sort]);
  }

  insert(message) {
    if (this.posts.has(message.id)) return this.posts.get(message.id);
    fill(this.notice);
    const next = this.next(message);
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
