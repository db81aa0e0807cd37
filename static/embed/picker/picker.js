/** Offers all emoji, with search in the reader's language. The panel imports this script when a reader opens it. */

import { search } from "./search.js";

const RECENT_MAX = 16;
const FOUND_MAX = 96;
const TYPING_MS = 120;

export class Picker {
  /**
   * `groups`: [{ name, emoji: [[emoji, name, keywords]] }]; `recent`: emoji; `onPick(emoji)`; `tools`: `h`, `fill` and `t` of
   * the panel, which this script cannot import.
   */
  constructor({ groups, recent, onPick, tools }) {
    const { h, t } = tools;
    Object.assign(this, { groups, onPick, tools, all: groups.flatMap(({ emoji }) => emoji) });
    const used = recent.map((emoji) => this.all.find(([known]) => known === emoji)).filter(Boolean).slice(0, RECENT_MAX);
    this.tabs = used.length ? [{ name: t("panel.emoji_recent"), emoji: used, sign: "🕒" }, ...groups] : groups;
    this.field = h("input", { type: "search", "aria-label": t("panel.emoji_search"), placeholder: t("panel.emoji_search"), autocomplete: "off", oninput: () => this.typed() });
    this.buttons = this.tabs.map((group, at) => this.tab(group, at));
    this.count = h("p", { class: "hidden-text", role: "status" });
    this.grid = h("div", { class: "emoji-grid", role: "group" });
    this.element = h("div", { class: "picker", role: "group", "aria-label": t("panel.more_emoji") },
      this.field, h("div", { class: "emoji-tabs", role: "group" }, this.buttons), this.count, this.grid);
    this.grid.addEventListener("keydown", (event) => this.moved(event));
    this.field.addEventListener("keydown", (event) => event.key === "ArrowDown" && this.enter(event));
    this.show(0);
  }

  tab({ name, emoji, sign }, at) {
    const { h } = this.tools;
    return h("button", { type: "button", class: "emoji", title: name, "aria-label": name, onclick: () => this.show(at) }, sign || emoji[0][0]);
  }

  show(at) {
    this.field.value = "";
    this.count.textContent = "";
    this.list(this.tabs[at].emoji, this.tabs[at].name, at);
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), TYPING_MS);
  }

  find() {
    clearTimeout(this.timer);
    this.timer = 0;
    const { t } = this.tools;
    const found = search(this.all, this.field.value).slice(0, FOUND_MAX);
    if (!this.field.value.trim()) return this.show(0);
    this.list(found, t("panel.emoji_search"), -1);
    this.count.textContent = found.length ? t("panel.emoji_found", { n: found.length }) : "";
    return undefined;
  }

  /** Show emoji, of which one is reached by the Tab key and the others from it by arrows. */
  list(emoji, label, selected) {
    const { h, fill, t } = this.tools;
    const button = ([character, name], at) => h("button", { type: "button", class: "emoji", title: name, "aria-label": name, tabindex: at ? -1 : 0, onclick: () => this.onPick(character) }, character);
    fill(this.grid, emoji.length ? emoji.map(button) : h("p", { class: "gone", role: "status" }, t("panel.emoji_none")));
    this.grid.setAttribute("aria-label", label);
    this.grid.scrollTop = 0;
    this.buttons.forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === selected)));
  }

  /** Lead to the first emoji, also of what was typed just before: the list would be replaced under the focus. */
  enter(event) {
    event.preventDefault();
    if (this.timer) this.find();
    const first = this.grid.querySelector("button");
    if (first) this.focus(first);
  }

  moved(event) {
    const cells = [...this.grid.querySelectorAll("button")];
    const at = cells.indexOf(document.activeElement);
    const columns = getComputedStyle(this.grid).gridTemplateColumns.split(" ").length;
    const forward = getComputedStyle(this.grid).direction === "rtl" ? -1 : 1;
    const steps = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: columns, ArrowUp: -columns, Home: -at, End: cells.length - 1 - at };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    if (event.key === "ArrowUp" && at < columns) return this.field.focus();
    const next = cells[Math.max(0, Math.min(cells.length - 1, at + steps[event.key]))];
    this.focus(next);
  }

  focus(cell) {
    for (const other of this.grid.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  }
}
