/** The form for a post, a reply or a quote. A draft and its idempotency key are stored until the post is sent. */

import { newKey, write } from "./api.js";
import { fill, h, icon, userText } from "./dom.js";
import { explain } from "./failures.js";
import { plainText } from "./markdown.js";
import { load, store } from "./memory.js";
import { afterPress } from "./press.js";
import { Preview } from "./preview.js";
import { later } from "./scripts.js";
import { t } from "./words.js";

const CONTENT_MAX = 20000;
const COUNTER_FROM = 0.8 * CONTENT_MAX;
const EXCERPT = 140;

/** Characters as the service counts them: code points. */
const lengthOf = (text) => [...text].length;

/** Delete a draft, unless another tab has stored one of its own, which has another key. */
function dropDraft({ draftName, key }) {
  if (load(draftName)?.key === key) store(draftName, null);
}

export class Composer {
  /**
   * `panel`: see main.js; `parent`: the message replied to, or null for a top-level post; `onSent(message)` is called
   * with the new message; `onCancel()` closes the form.
   */
  constructor({ panel, parent, label, onSent, onCancel }) {
    Object.assign(this, { panel, parent, onSent, onCancel, quote: null, key: null });
    this.area = h("textarea", { rows: 1, dir: "auto", "aria-label": label, placeholder: label, oninput: () => this.changed() });
    this.preview = new Preview(this.area);
    this.counter = h("span", { class: "counter", role: "status" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.quoted = h("div", { class: "quoted", hidden: true });
    this.button = h("button", { type: "submit", class: "primary" }, icon("send"), h("span", {}, t(parent ? "panel.send_reply" : "panel.send")));
    const cancel = onCancel && h("button", { type: "button", class: "quiet", onclick: onCancel }, t("panel.cancel"));
    this.element = h("form", { class: "composer", onsubmit: (event) => this.submit(event), onkeydown: (event) => this.shortcut(event) },
      this.quoted, this.area, this.preview.shown, this.problem, this.preview.hint, h("div", { class: "bar" }, this.counter, cancel, this.preview.button, this.button));
    this.element.addEventListener("focusin", () => this.element.classList.add("active"));
    this.area.addEventListener("focus", () => this.helpWriting(), { once: true });
    this.element.addEventListener("focusout", () => afterPress(() => this.fold()));
  }

  /** Load the keys for marks, the list of handles, and what tells of a closed discussion. One can write without. */
  async helpWriting() {
    try {
      const [{ enableMarks }, { Mentions }, { tellIfClosed }] = await Promise.all([later("marks"), later("mentions"), later("closed")]);
      enableMarks(this.area);
      tellIfClosed(this);
      this.mentions = new Mentions(this.area, this.panel);
      this.area.after(this.mentions.list);
      this.mentions.update();
    } catch {
      this.area.addEventListener("input", () => this.helpWriting(), { once: true });
    }
  }

  /** Hide the buttons, unless the form has the focus again. */
  fold() {
    this.element.classList.toggle("active", this.element.contains(document.activeElement));
  }

  get draftName() {
    return `draft ${this.panel.pageId()} ${this.parent ? this.parent.id : ""}`;
  }

  /** Restore the draft of this page and parent, if any. The form is inert until the page id is known. */
  restore() {
    this.element.inert = !this.panel.pageId();
    const draft = load(this.draftName) || {};
    this.area.value = draft.text || "";
    this.key = draft.key || null;
    this.setQuote(draft.quote || null);
    this.showProblem("");
  }

  get isEmpty() {
    return !this.area.value && !this.quote;
  }

  saveDraft() {
    if (this.isEmpty) dropDraft(this);
    else store(this.draftName, { text: this.area.value, quote: this.quote, key: this.key });
  }

  setQuote(message) {
    this.preview.close();
    this.quote = message && { id: message.id, content: plainText(message.content).slice(0, EXCERPT), author: { name: message.author.name } };
    this.quoted.hidden = !message;
    if (message) {
      const remove = h("button", { type: "button", class: "icon", "aria-label": t("panel.drop_quote"), onclick: () => this.setQuote(null) }, icon("cross"));
      fill(this.quoted, h("p", {}, h("strong", {}, t("panel.quoting", { name: this.quote.author.name })), userText("span", this.quote.content)), remove);
    }
    this.changed();
  }

  changed() {
    const length = lengthOf(this.area.value);
    const left = CONTENT_MAX - length;
    this.counter.textContent = length < COUNTER_FROM ? "" : t(left < 0 ? "panel.over" : "panel.left", { n: Math.abs(left) });
    this.counter.classList.toggle("over", left < 0);
    this.element.classList.toggle("filled", length > 0 || this.quote !== null);
    this.saveDraft();
  }

  /** Escape closes a reply box and not the panel. */
  shortcut(event) {
    if (event.isComposing || this.mentions?.take(event)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target === this.area) this.submit(event);
    if (event.key !== "Escape" || !this.onCancel) return;
    event.stopPropagation();
    this.onCancel();
  }

  showProblem(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
  }

  async submit(event) {
    event.preventDefault();
    if (this.busy) return;
    this.showProblem("");
    if (!this.area.value.trim() && !this.quote) {
      this.preview.close();
      this.showProblem(t("error.empty_message"));
      return this.area.focus();
    }
    const { draftName } = this;
    const session = await this.panel.signedIn();
    // Meanwhile it may have been pressed again, or show the draft of another page.
    if (!session || this.busy || draftName !== this.draftName) return;
    this.setBusy(true);
    try {
      await this.send(session);
    } catch (failure) {
      if (failure.signedOut) this.panel.signedOut();
      if (failure.code === "idempotency_key_reused" && draftName === this.draftName) this.sentEarlier();
      else this.showProblem(`${explain(failure)} ${t("panel.draft_saved")}`);
    }
    this.setBusy(false);
  }

  async send(session) {
    this.key = this.key || newKey();
    this.saveDraft();
    const { draftName, key } = this;
    const body = { pageId: this.panel.pageId(), content: this.area.value, sourceApp: "embed" };
    if (this.parent) body.parentId = this.parent.id;
    if (this.quote) body.quoteId = this.quote.id;
    const { record, headers } = await write(session, "POST", "/api/messages", { body, key });
    const isEarlier = headers.get("Idempotency-Payload-Mismatch") === "true";
    if (!isEarlier) dropDraft({ draftName, key });
    // The draft of another page has a key of its own.
    if (draftName === this.draftName) {
      if (isEarlier) this.sentEarlier();
      else this.sent();
    }
    this.onSent(record);
  }

  sent() {
    this.area.value = "";
    this.setQuote(null);
    this.key = null;
  }

  /**
   * An earlier attempt with another text succeeded: that text is published, the current text stays a draft. A service
   * that refuses such a retry does not return the post; it appears as those of others do.
   */
  sentEarlier() {
    this.key = null;
    this.saveDraft();
    this.showProblem(t("panel.earlier"));
  }

  setBusy(busy) {
    this.busy = busy;
    this.area.readOnly = busy;
    this.element.classList.toggle("busy", busy);
    this.button.setAttribute("aria-disabled", String(busy));
    this.button.lastChild.textContent = t(busy ? "panel.sending" : this.parent ? "panel.send_reply" : "panel.send");
  }
}
