/** Whether the community takes posts on the page. Its moderators close and reopen the discussion at the panel's head. */

import { newKey, write } from "../panel/api.js";
import { ICONS, fill, h } from "../panel/dom.js";
import { Menu } from "../panel/menu.js";
import { t } from "../panel/words.js";

Object.assign(ICONS, {
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  unlock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 6.7-1.5",
});

export class Discussion {
  /** `moderation` sends the decisions. To its form, this is the post: it has `panel`, `menu`, `tool` and `form`. */
  constructor(moderation) {
    Object.assign(this, { moderation, panel: moderation.panel, form: null, record: null });
    this.menu = new Menu(() => [this.action()]);
    Object.assign(this.menu.element.style, { position: "relative", inset: "auto" });
    this.note = h("p", { class: "review" });
    this.tool = h("div", { class: "tool" });
    for (const { style } of [this.note, this.tool]) style.marginBlock = "10px";
    this.show(null);
  }

  get pageId() {
    return this.record?.pageId || null;
  }

  /** `record`: the answer of getDiscussion, or null while it is not known. What the community's rule has closed stays closed. */
  show(record) {
    if (this.pageId !== (record?.pageId || null)) this.form?.close();
    this.record = record;
    const isByRule = record?.closed && !record.closedAt;
    this.menu.element.hidden = !record || isByRule;
    this.note.hidden = !record?.closed;
    fill(this.note, h("strong", {}, t("moderation.closed")), " ", t(isByRule ? "moderation.closed_by_rule" : "moderation.close_hint"));
  }

  action() {
    if (this.record.closed) return ["unlock", t("moderation.reopen"), () => this.reopen()];
    return ["lock", t("moderation.close"), () => this.close()];
  }

  get path() {
    return `${this.moderation.community}/closed`;
  }

  close() {
    const { pageId } = this;
    const done = (record) => this.changed(record, t("moderation.closed_now"));
    this.panel.showThread();
    return this.moderation.decide(this, { path: this.path, body: { pageId }, label: t("moderation.close"), question: t("moderation.close_question"), hint: t("moderation.close_hint"), reason: t("moderation.reason_here"), kind: "danger", done });
  }

  async reopen() {
    const { pageId, path } = this;
    const answer = await this.moderation.attempt((session) => write(session, "DELETE", `${path}/${pageId}`, { key: newKey() }));
    if (!answer) return this.moderation.load();
    const { record } = answer;
    return this.changed(record, t(record.closed ? "moderation.closed_by_rule" : "moderation.reopened"));
  }

  changed(record, text) {
    // Meanwhile the reader may have gone to another page.
    if (record.pageId === this.pageId) this.show(record);
    return this.moderation.decided(text);
  }
}
