/** Search in the discussion: a field, and results of one line each, which lead to the post in the thread. */

import { searchMessages } from "../panel/api.js";
import { fill, h, userText } from "../panel/dom.js";
import { explain } from "../panel/failures.js";
import { plainText } from "../panel/markdown.js";
import { since, t } from "../panel/words.js";
import { UNSPACED } from "./mentions.js";

const PAUSE_MS = 400;
const AT_ONCE = 10;
const SHORTEST = 2;
const BEFORE = 30;
const LINE = 160;

export class Search {
  constructor(panel, thread) {
    Object.assign(this, { panel, thread, run: 0, text: "", timer: 0, hasFailed: false });
    this.field = h("input", { type: "search", maxlength: 200, "aria-label": t("panel.search"), placeholder: t("panel.search"), oninput: () => this.later() });
    this.status = h("p", { class: "meta", role: "status" });
    this.results = h("ul", { class: "results" });
    this.more = h("button", { type: "button", class: "wide", hidden: true, onclick: () => this.more.ariaDisabled === "true" || this.load(this.cursor) }, t("panel.more_results"));
    this.element = h("form", { class: "search", role: "search", hidden: true }, this.field, this.status, this.results, this.more);
    this.element.onsubmit = (event) => {
      event.preventDefault();
      this.find();
    };
    this.element.onkeydown = (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.stopPropagation();
      this.close();
      this.onClose();
    };
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open() {
    this.element.hidden = false;
    this.showThread();
    this.field.select();
    this.field.focus();
  }

  close() {
    this.element.hidden = true;
    this.showThread();
  }

  clear() {
    this.field.value = "";
    this.find();
    this.close();
  }

  /** The results are in the place of the thread. */
  showThread() {
    this.thread.element.hidden = this.isOpen && this.text !== "";
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), PAUSE_MS);
  }

  find() {
    clearTimeout(this.timer);
    const text = this.field.value.trim();
    if (text === this.text && !this.hasFailed) return;
    // By the rule of the service.
    this.text = text.length < SHORTEST && !UNSPACED.test(text) ? "" : text;
    this.run += 1;
    fill(this.results);
    fill(this.status);
    this.more.hidden = true;
    this.showThread();
    if (this.text) this.load();
  }

  async load(cursor) {
    const run = ++this.run;
    this.hasFailed = false;
    // Not disabled: the button keeps the focus.
    this.more.ariaDisabled = "true";
    try {
      const { messages, nextCursor } = await searchMessages({ q: this.text, pageId: this.thread.pageId, limit: AT_ONCE, cursor });
      if (run !== this.run) return;
      const results = messages.map((message) => this.result(message));
      this.results.append(...results);
      this.cursor = nextCursor;
      this.more.hidden = !nextCursor;
      const n = this.results.children.length;
      this.status.textContent = n ? t(nextCursor ? "panel.found_first" : "panel.found", { n }) : t("panel.found_none");
      if (cursor && results.length) results[0].firstChild.focus();
    } catch (failure) {
      if (run !== this.run) return;
      this.hasFailed = true;
      fill(this.status, h("span", { class: "problem" }, explain(failure)));
    }
    this.more.ariaDisabled = "false";
  }

  result({ id, author, createdAt, content, payload }) {
    const text = plainText(content) || Object.values(payload || {}).filter((value) => typeof value === "string").join(" ");
    return h("li", {}, h("button", { type: "button", onclick: () => this.show(id) },
      h("span", { class: "meta" }, userText("bdi", author.name), " · ", since(createdAt)), userText("span", this.line(text), { class: "line" })));
  }

  /** The text from shortly before the first of the words, which is marked, in one line. */
  line(content) {
    const text = content.replace(/\s+/g, " ");
    const word = this.text.split(/\s+/).find((each) => text.toLowerCase().includes(each.toLowerCase())) || "";
    const at = word ? text.toLowerCase().indexOf(word.toLowerCase()) : 0;
    const from = Math.max(0, at - BEFORE);
    const rest = text.slice(at + word.length, from + LINE);
    return [from ? "…" : "", text.slice(from, at), word && h("mark", {}, text.slice(at, at + word.length)), rest];
  }

  show(id) {
    this.close();
    this.panel.reveal(id);
  }
}
