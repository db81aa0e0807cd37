/** A post, reply or quote as an article, with the replies below it. */

import { actionsOf } from "./actions.js";
import { agentBadge, moderatorBadge } from "./badge.js";
import { Composer } from "./composer.js";
import { fill, h, icon, userText, webLink } from "./dom.js";
import { plainText, textElement } from "./markdown.js";
import { Menu } from "./menu.js";
import { settlePending } from "./own.js";
import { Reactions } from "./reactions.js";
import { Replies } from "./replies.js";
import { isWriting } from "./scroll.js";
import { anchor, tagCard } from "./tags.js";
import { dateAndTime, since, t } from "./words.js";

const TONES = 8;
const LONG_CHARACTERS = 900;
const LONG_LINES = 14;
// The deepest posts that are indented more than the post that they answer.
const INDENTED_DEPTH = 3;

export class Post {
  /** `panel`: see main.js. `depth` is 0 for a top-level post; `parent`: the message that this one answers. */
  constructor(message, panel, depth = 0, parent = null) {
    Object.assign(this, { id: message.id, message, panel, depth });
    this.reactions = new Reactions(message, panel);
    this.replies = new Replies(message, (reply) => new Post(reply, panel, depth + 1, this.message), depth);
    this.time = h("time", { datetime: message.createdAt, title: dateAndTime(message.createdAt) });
    this.link = h("a", { target: "_blank", rel: "noopener" }, this.time);
    this.edited = h("span");
    this.menu = new Menu(() => actionsOf(this));
    // The place of the form of an action of the menu.
    this.tool = h("div", { class: "tool" });
    this.replyPlace = h("div", { class: "reply-place" });
    this.said = h("div", { class: "said" });
    this.review = h("p", { class: "review" }, h("strong", {}, t("panel.awaiting")), " ", t("panel.awaiting_hint"));
    this.replyAction = this.action("reply", () => this.openReply());
    this.actions = h("div", { class: "actions" }, this.replyAction, this.action("quote", () => panel.quote(this.message)), this.reactions.add);
    this.showContent();
    this.name = h("div", { class: "name", id: `name-${message.id}` }, author(message.author), moderatorBadge(message));
    this.meta = h("div", { class: "meta" }, userText("span", `@${message.author.handle}`), " · ", this.link, this.edited, imported(message));
    this.avatar = avatar(message.author);
    this.element = h("article", { class: depth ? "post reply" : "post", id: `community-post-${message.id}`, "aria-labelledby": this.name.id, tabindex: -1 },
      this.avatar,
      h("header", {}, this.name, this.meta, depth > INDENTED_DEPTH && inReplyTo(parent), this.menu.element),
      this.body = h("div", { class: "body" },
        this.said, this.tool, this.review, this.reactions.chips, this.actions, this.reactions.choice, this.replyPlace),
      this.replies.element);
    this.showStatus();
    if (isDeleted(message)) this.bury();
    this.tick();
    panel.moderation?.mark(this);
  }

  /** Show a deleted post that has replies. What the reader is writing stays, with the focus. */
  bury() {
    if (this.element.classList.contains("deleted")) return;
    this.element.classList.add("deleted");
    const hadFocus = this.element.contains(document.activeElement);
    fill(this.name, t("panel.deleted"));
    fill(this.meta, this.link);
    fill(this.avatar);
    this.menu.element.remove();
    const written = [isWriting(this.tool) && this.tool, this.replyPlace];
    for (const part of [...this.body.children]) if (!written.includes(part)) part.remove();
    if (hadFocus && !this.element.contains(document.activeElement)) this.element.focus({ preventScroll: true });
  }

  action(name, onclick) {
    return h("button", { type: "button", class: "quiet", onclick }, icon(name), t(`panel.${name}`));
  }

  /** Show the content, unless it is shown already: it would be folded again, and a selection in it be lost. */
  showContent() {
    const { replyCount, quoteCount, reactionCounts, reactionTotal, updatedAt, topReply, pinned, ...written } = this.message;
    const version = JSON.stringify(written);
    if (version === this.version) return;
    this.version = version;
    const { message } = this;
    fill(this.said, anchor(message), content(message.content), tagCard(message), quote(message), attachments(message.attachments));
  }

  get isPending() {
    return this.message.status === "pending";
  }

  /** A post that awaits review, which only its author sees, has a mark instead of reply, quote and react. */
  showStatus() {
    this.review.hidden = !this.isPending;
    this.actions.hidden = this.isPending;
    const { editedAt, url, pinned } = this.message;
    if (this.isPending) this.link.removeAttribute("href");
    else this.link.href = url;
    fill(this.edited, pinned && [" · ", h("strong", {}, t("panel.pinned"))], editedAt && [" · ", h("time", { datetime: editedAt, title: dateAndTime(editedAt) }, t("panel.edited"))]);
  }

  /**
   * Remove a post that is not public any more. If the reader writes below it, only its content disappears. One that a
   * moderator has just hidden here (`stays`) can be restored.
   */
  withdraw() {
    if (this.stays) return;
    this.replies.posts.forEach((reply) => reply.withdraw());
    if (isWriting(this.element)) {
      this.version = null;
      this.element.classList.add("withdrawn");
      return fill(this.said, h("p", { class: "gone" }, t("error.message_not_found")));
    }
    const next = this.element.nextElementSibling || this.element.previousElementSibling || this.panel.scroller;
    if (this.element.contains(document.activeElement)) next.focus({ preventScroll: true });
    this.element.remove();
    this.owner.remove(this.id);
  }

  update(message) {
    if (this.isPending && message.status !== "pending") settlePending(message);
    // Only lists say what is pinned.
    this.message = { pinned: this.message.pinned, ...message };
    this.showStatus();
    this.element.classList.remove("withdrawn");
    if (isDeleted(message)) this.bury();
    this.showContent();
    this.reactions.update(message.reactionCounts);
    this.replies.update(message);
    this.tick();
    this.panel.moderation?.mark(this);
  }

  tick() {
    const text = since(this.message.createdAt);
    if (this.time.textContent !== text) this.time.textContent = text;
  }

  openReply() {
    if (!this.composer) {
      const label = t("panel.reply_to", { name: this.message.author.name });
      this.composer = new Composer({ panel: this.panel, parent: this.message, label, onSent: (sent) => this.replied(sent), onCancel: () => this.closeReply() });
      this.composer.restore();
    }
    fill(this.replyPlace, this.composer.element);
    if (!this.reactions.choice.hidden) this.reactions.closeChoice();
    this.composer.area.focus();
  }

  /** The text stays a draft. */
  closeReply() {
    fill(this.replyPlace);
    this.replyAction.focus({ preventScroll: true });
  }

  /** A form with text stays: an earlier text was sent. */
  replied(message) {
    const isSent = this.composer.isEmpty;
    if (isSent) fill(this.replyPlace);
    this.panel.published(message);
    this.replies.append(message, { hasFocus: isSent });
  }
}

/** An import has written it: who wrote it, and when, is what its file says. And its votes in the system that it comes from. */
function imported({ imported: isImported, importedScore }) {
  return [isImported && [" · ", t("panel.imported")], Number.isInteger(importedScore) && [" · ", t("panel.imported_score", { n: importedScore })]];
}

export function isDeleted({ status }) {
  return status === "deleted";
}

/** A link to the post that a reply answers, for replies whose place does not tell it. */
function inReplyTo({ id, url, author: { name } }) {
  const show = (event) => {
    const parent = document.getElementById(`community-post-${id}`);
    if (!parent || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    parent.focus();
    parent.scrollIntoView({ block: "nearest" });
  };
  return h("div", { class: "meta" }, h("a", { href: url, target: "_blank", rel: "noopener", onclick: show }, t("panel.in_reply_to", { name })));
}

function avatar({ id, name, kind }) {
  const tone = [...id].reduce((sum, character) => (sum * 31 + character.codePointAt(0)) % 9973, 7) % TONES;
  const shown = kind === "agent" ? icon("agent") : ([...name.trim()][0] || "?").toUpperCase();
  return h("div", { class: `avatar tone-${tone} ${kind}`, "aria-hidden": true }, shown);
}

/** The name of an author; an agent always has a badge. */
function author({ name, handle, kind }) {
  return [userText("bdi", name), kind === "agent" && agentBadge(handle)];
}

/** The text of a post. Long text is folded, not cut. */
function content(text) {
  if (!text) return null;
  const body = textElement(text, { class: "content" });
  if (text.length <= LONG_CHARACTERS && text.split("\n").length <= LONG_LINES) return body;
  body.classList.add("folded");
  const more = h("button", { type: "button", class: "quiet more", "aria-expanded": "false" }, t("panel.read_more"));
  const fold = (folded) => {
    body.classList.toggle("folded", folded);
    more.setAttribute("aria-expanded", String(!folded));
    more.textContent = t(folded ? "panel.read_more" : "panel.read_less");
  };
  more.onclick = () => fold(!body.classList.contains("folded"));
  // A link in the folded part has the focus.
  body.addEventListener("focusin", () => fold(false));
  return [body, more];
}

function quote({ quote, quoteId }) {
  if (!quoteId) return null;
  if (!quote) return h("p", { class: "gone" }, t("panel.quote_gone"));
  return h("blockquote", { class: "quote" }, h("p", { class: "name" }, author(quote.author)), userText("p", plainText(quote.content), { class: "clamp" }));
}

function attachments(list) {
  if (!Array.isArray(list) || !list.length) return null;
  return h("ul", { class: "attachments", "aria-label": t("panel.attachments") },
    list.map(({ url, type }) => h("li", {}, icon("link"), webLink(url), userText("span", type, { class: "kind" }))));
}
