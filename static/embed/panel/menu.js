/** The menu of a post: a button that opens a list of actions, with the keys of the ARIA menu pattern. */

import { h, icon } from "./dom.js";
import { t } from "./words.js";

let opened = null;

export class Menu {
  /** `actions()` returns [icon, label, work] for each item, each time the menu is opened. */
  constructor(actions) {
    this.actions = actions;
    this.button = h("button", { type: "button", class: "icon", "aria-label": t("panel.actions"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.toggle(), onkeydown: (event) => this.openByKey(event) }, icon("dots"));
    this.element = h("div", { class: "menu" }, this.button);
  }

  toggle() {
    if (opened === this) return this.close();
    this.open();
  }

  openByKey(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (opened !== this) this.open();
    if (event.key === "ArrowUp") this.items.at(-1).focus();
  }

  open() {
    if (opened) opened.close();
    opened = this;
    this.items = this.actions().map(([name, label, work]) =>
      h("button", { type: "button", role: "menuitem", tabindex: -1, onclick: () => this.choose(work) }, icon(name), label));
    this.list = h("div", { class: "menu-list", role: "menu", "aria-label": t("panel.actions"), onkeydown: (event) => this.move(event) }, this.items);
    this.element.append(this.list);
    this.button.setAttribute("aria-expanded", "true");
    this.list.scrollIntoView({ block: "nearest" });
    this.items[0].focus({ preventScroll: true });
  }

  /** Without `focus`, the reader has pressed something else. */
  close({ focus = true } = {}) {
    if (opened === this) opened = null;
    this.list.remove();
    this.button.setAttribute("aria-expanded", "false");
    if (focus) this.button.focus({ preventScroll: true });
  }

  choose(work) {
    this.close();
    work();
  }

  move(event) {
    const { items } = this;
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: (at + 1) % items.length, ArrowUp: (at + items.length - 1) % items.length, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Tab") this.close();
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    }
    if (to === undefined) return;
    event.preventDefault();
    items[to].focus();
  }
}

addEventListener("pointerdown", ({ target }) => opened && !opened.element.contains(target) && opened.close({ focus: false }), true);
