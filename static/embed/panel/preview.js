/** Shows what is written in a composer as it will appear. */

import { fill, h } from "./dom.js";
import { prepare, textElement } from "./markdown.js";
import { t } from "./words.js";

export class Preview {
  constructor(area) {
    this.area = area;
    this.shown = h("div", { class: "preview", role: "region", "aria-label": t("panel.preview"), tabindex: 0, hidden: true });
    this.hint = h("p", { class: "marks" }, t("panel.marks"));
    this.button = h("button", { type: "button", class: "quiet", onclick: () => this.toggle() }, t("panel.preview"));
  }

  async toggle() {
    if (this.isOpen) {
      this.close();
      return this.area.focus();
    }
    await prepare([this.area.value]);
    fill(this.shown, this.area.value.trim() ? textElement(this.area.value, { class: "content" }) : h("p", { class: "gone" }, t("error.empty_message")));
    this.show(true);
    this.shown.focus();
  }

  get isOpen() {
    return !this.shown.hidden;
  }

  close() {
    if (this.isOpen) this.show(false);
  }

  show(isOpen) {
    this.shown.hidden = !isOpen;
    this.area.hidden = isOpen;
    this.button.textContent = t(isOpen ? "panel.edit_text" : "panel.preview");
  }
}
