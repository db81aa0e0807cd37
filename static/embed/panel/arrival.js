/** Shows a post that a link names, wherever it is in the thread: loads it, with the posts that lead to it. */

import { getMessage } from "./api.js";
import { explain } from "./failures.js";
import { pin, placeMore } from "./listing.js";
import { t } from "./words.js";

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const ANCESTORS_MAX = 100;

export class Arrival {
  /** `panel`: see main.js. */
  constructor(thread, panel) {
    Object.assign(this, { thread, panel, id: null });
  }

  /** Show a post as soon as the thread has a list. The loader repeats the last id with each message. */
  go(id) {
    if (id === this.last) return;
    this.last = id;
    this.show(id);
  }

  show(id) {
    this.id = ID.test(id) ? id : null;
    this.attempt();
  }

  /** Called again after each list: an earlier one may have failed, or be replaced. */
  async attempt() {
    const { thread } = this;
    const { loaded } = thread;
    if (!this.id || !(await loaded) || loaded !== thread.loaded || !this.id) return;
    const { id } = this;
    const { pageId } = thread;
    if (thread.kind && !thread.find(id)) return this.panel.showEveryone();
    this.id = null;
    try {
      const post = thread.find(id) || (await this.load(id));
      // The reader has changed the page.
      if (pageId !== thread.pageId) return;
      if (post?.element.isConnected) {
        this.panel.showThread();
        return highlight(post, this.panel.scroller);
      }
      // The list was replaced meanwhile.
      this.id = this.id || id;
      return this.attempt();
    } catch (failure) {
      if (pageId !== thread.pageId) return;
      this.panel.failed(failure, failure.status === 404 ? t("error.message_not_found") : explain(failure));
    }
  }

  /** Insert the top-level post of the thread, then each reply on the way down, unless the list is replaced meanwhile. */
  async load(id) {
    const { thread } = this;
    const { loaded } = thread;
    const [first, ...rest] = await this.ancestors(id);
    if (loaded !== thread.loaded) return null;
    let post = thread.find(first.id) || this.insert(first);
    for (const message of rest) {
      await post.replies.reveal(message);
      post = thread.find(message.id);
      if (!post) return null;
    }
    return post;
  }

  /** Insert a top-level post that is not listed yet, or that was only offered. */
  insert(message) {
    const { thread } = this;
    thread.news.messages.delete(message.id);
    thread.news.label();
    // By reactions, its place is not known.
    if (thread.sort === "reactions") return pin(thread, message);
    const post = thread.insert(message);
    placeMore(thread);
    return post;
  }

  /** The post and those above it, down from the first that is shown, else from the top-level post. */
  async ancestors(id) {
    const path = [await getMessage(id)];
    if (path[0].pageId !== this.thread.pageId) throw Object.assign(new Error("other page"), { status: 404 });
    while (path[0].parentId && !this.thread.find(path[0].id) && path.length < ANCESTORS_MAX) path.unshift(await getMessage(path[0].parentId));
    return path;
  }
}

/** Scroll to a post and mark it until the focus leaves it; with animations, the mark fades. */
function highlight({ element }, scroller) {
  const isHigh = element.offsetHeight > scroller.clientHeight;
  element.classList.add("linked");
  element.addEventListener("focusout", () => element.classList.remove("linked"), { once: true });
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: isHigh ? "start" : "center" });
}
