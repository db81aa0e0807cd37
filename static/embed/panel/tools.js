/** The controls above the thread: the order, whose posts are shown, and the search of a large discussion. */

import { countPosts } from "./api.js";
import { icon } from "./dom.js";
import { explain } from "./failures.js";
import { later } from "./scripts.js";

// Discussions with more posts and replies have a search.
const LARGE = 50;
const READING = ["scroll", "focusin"];

export class Tools {
  constructor(panel, thread) {
    Object.assign(this, { panel, thread, search: null, counted: null });
    const [sort, kind, find] = ["sort", "kind", "find"].map((id) => document.getElementById(id));
    Object.assign(this, { sort, kind, find });
    sort.onchange = () => thread.choose({ sort: sort.value });
    kind.onchange = () => thread.choose({ kind: kind.value });
    find.append(icon("search"));
    find.onclick = () => this.toggle();
    this.show();
  }

  show() {
    this.sort.value = this.thread.sort;
    this.kind.value = this.thread.kind;
  }

  async toggle() {
    try {
      await this.loadSearch();
    } catch (failure) {
      return this.panel.failed(failure, explain(failure));
    }
    if (this.search.isOpen) this.search.close();
    else this.search.open();
    this.panel.toTop();
  }

  /** Close the search if its results are in the place of the thread. */
  showThread() {
    if (this.thread.element.hidden) this.search.close();
  }

  async loadSearch() {
    const { Search } = await later("search");
    if (this.search) return;
    this.search = new Search(this.panel, this.thread);
    this.search.onClose = () => this.find.focus();
    this.find.closest(".tools").after(this.search.element);
  }

  /** Another page: hide the search until its posts are counted. */
  reset() {
    if (this.search) this.search.clear();
    this.find.hidden = true;
    this.counted = null;
  }

  /**
   * Show the search if the loaded posts are many. If more follow, count them, once the reader scrolls or moves the focus:
   * the first posts do not wait for it.
   */
  count() {
    const { posts, cursor, url, pageId } = this.thread;
    const sum = [...posts.values()].reduce((all, { message }) => all + 1 + message.replyCount, 0);
    if (sum > LARGE) this.find.hidden = false;
    if (!this.find.hidden || !cursor || this.counted === pageId) return;
    this.counted = pageId;
    const count = async () => {
      READING.forEach((type) => this.panel.scroller.removeEventListener(type, count));
      const all = await countPosts(url).catch(() => 0);
      if (pageId === this.thread.pageId && all > LARGE) this.find.hidden = false;
    };
    READING.forEach((type) => this.panel.scroller.addEventListener(type, count));
  }
}
