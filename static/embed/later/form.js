/** A form inside a post, for what its reader does to it: edit, delete, report. Escape closes it and not the panel. */

import { newKey } from "../panel/api.js";
import { fill, h } from "../panel/dom.js";
import { explain } from "../panel/failures.js";
import { t } from "../panel/words.js";

export class PostForm {
  /**
   * `fields`: the elements above the buttons; `label`: of the button that submits; `send(session, key)` resolves to
   * { record }, with which `done(record)` is called when the form is closed; `onClose()`; `onCancel()`: not if another form
   * of the post replaces this one.
   */
  constructor(post, { fields, label, kind = "", send, done, onClose, onCancel }) {
    Object.assign(this, { post, send, done, onClose, onCancel, key: null });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.button = h("button", { type: "submit", class: `primary ${kind}` }, label);
    const cancel = h("button", { type: "button", class: "quiet", onclick: () => this.cancel() }, t("panel.cancel"));
    this.element = h("form", { class: "composer filled", onsubmit: (event) => this.submit(event), oninput: () => { this.key = null; }, onkeydown: (event) => this.shortcut(event) },
      fields, this.problem, h("div", { class: "bar" }, cancel, this.button));
  }

  /** Show the form instead of another one of the post, with the focus in `field`. */
  show(field) {
    if (this.post.form) this.post.form.close();
    this.post.form = this;
    fill(this.post.tool, this.element);
    this.element.scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
  }

  close() {
    this.post.form = null;
    fill(this.post.tool);
    if (this.onClose) this.onClose();
    this.post.menu.button.focus({ preventScroll: true });
  }

  cancel() {
    if (this.onCancel) this.onCancel();
    this.close();
  }

  shortcut(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.element.requestSubmit();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.cancel();
  }

  async submit(event) {
    event.preventDefault();
    if (this.busy) return;
    this.explain("");
    const { panel } = this.post;
    const session = await panel.signedIn();
    if (!session || this.busy) return;
    this.setBusy(true);
    try {
      // A retry of the same has the same key: if an attempt has succeeded, its response is returned.
      this.key = this.key || newKey();
      const { record } = await this.send(session, this.key);
      if (this.post.form === this) this.close();
      await this.done(record);
    } catch (failure) {
      if (failure.signedOut) panel.signedOut();
      this.explain(explain(failure));
    }
    this.setBusy(false);
  }

  explain(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
  }

  setBusy(busy) {
    this.busy = busy;
    for (const area of this.element.querySelectorAll("textarea")) area.readOnly = busy;
    this.element.classList.toggle("busy", busy);
    this.button.setAttribute("aria-disabled", String(busy));
  }
}
