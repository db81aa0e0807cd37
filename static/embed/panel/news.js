/** New posts that are not shown yet: inserted above the list, or offered by a button; and announced quietly. */

import { h } from "./dom.js";
import { canGrow, holdPlace } from "./scroll.js";
import { current } from "./session.js";
import { t } from "./words.js";

const STORED_MAX = 50;
// New posts are inserted up to this number; then the button loads the list again, which bounds its length.
const INSERTED_MAX = 100;
const ANNOUNCE_AFTER_MS = 1000;
const ANNOUNCE_PAUSE_MS = 15000;

export class News {
  constructor(thread) {
    Object.assign(this, { thread, messages: new Map(), hasGap: false, inserted: 0, unannounced: 0, timer: 0 });
    this.button = h("button", { type: "button", class: "news", hidden: true, onclick: () => this.open() });
    this.status = h("p", { class: "hidden-text", role: "status" });
  }

  /** Add a post. Of more than STORED_MAX the first is dropped: then posts are missing between these and the list. */
  add(message) {
    this.messages.set(message.id, message);
    if (this.messages.size <= STORED_MAX) return;
    this.messages.delete(this.messages.keys().next().value);
    this.hasGap = true;
  }

  /** Replace a post that is not shown yet; returns whether it is one of these. */
  update(message) {
    const isOffered = this.messages.has(message.id);
    if (isOffered) this.messages.set(message.id, message);
    return isOffered;
  }

  reset() {
    this.messages.clear();
    this.hasGap = false;
    this.inserted = 0;
    this.label();
  }

  /**
   * By reactions, posts do not move while they are read, and the next ones are those after the last. A post that is not
   * shown and has got a place before it would not be listed.
   */
  passed({ parentId, reactionTotal }) {
    const { sort, cursor, kind, lastLoaded } = this.thread;
    this.hasGap ||= sort === "reactions" && cursor && !kind && !parentId && reactionTotal >= lastLoaded.reactionTotal;
  }

  label() {
    const n = this.messages.size;
    this.button.hidden = !n && !(this.hasGap && this.thread.sort === "reactions");
    this.button.textContent = t(n ? "panel.news" : "panel.reordered", { n });
  }

  /**
   * Insert the posts if the reader is at the top of the newest; else offer them, so that the posts being read do not move.
   * In another order, the offer leads to the newest posts.
   */
  show() {
    const { posts, panel, sort } = this.thread;
    if (!posts.size || (sort === "newest" && !this.needsReload && canGrow(panel.scroller))) this.insert();
    else holdPlace(panel.scroller, () => this.label());
  }

  get needsReload() {
    return this.hasGap || this.inserted + this.messages.size > INSERTED_MAX;
  }

  insert() {
    this.inserted += this.messages.size;
    for (const message of this.messages.values()) this.thread.insert(message).element.classList.add("fresh");
    this.messages.clear();
    this.label();
  }

  async open() {
    if (this.messages.size && this.thread.sort !== "newest") await this.thread.choose({ sort: "newest" });
    else if (this.needsReload) await this.thread.reload();
    else this.insert();
    this.thread.panel.toTop();
    const first = this.thread.list.querySelector(".fresh") || this.thread.list.firstElementChild;
    first?.focus();
  }

  /** Announce the post of another, together with those that follow within a pause. */
  announce({ author }) {
    const session = current();
    if (session && session.userId === author.id) return;
    this.unannounced += 1;
    if (!this.timer) this.timer = setTimeout(() => this.announceNow(), ANNOUNCE_AFTER_MS);
  }

  announceNow() {
    this.status.textContent = t("panel.news", { n: this.unannounced });
    this.unannounced = 0;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.status.textContent = "";
      if (this.unannounced) this.announceNow();
    }, ANNOUNCE_PAUSE_MS);
  }
}
