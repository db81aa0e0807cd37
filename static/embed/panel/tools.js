/** The controls above the thread: the order, whose posts are shown, and the search of a large discussion. */

import { icon } from "./dom.js";
import { explain } from "./failures.js";
import { later } from "./scripts.js";

// Discussions with more posts and replies have a search, and those of which not all posts are loaded at first.
const LARGE = 50;

export class Tools {
  constructor(panel, thread) {
    Object.assign(this, { panel, thread, search: null });
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

  /** Another page: hide the search until its posts are loaded. */
  reset() {
    if (this.search) this.search.clear();
    this.find.hidden = true;
  }

  /** Show the search if the loaded posts and their replies are many, or more posts follow. */
  count() {
    const { posts, cursor } = this.thread;
    const sum = [...posts.values()].reduce((all, { message }) => all + 1 + message.replyCount, 0);
    if (cursor || sum > LARGE) this.find.hidden = false;
  }
}
