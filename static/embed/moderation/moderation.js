/** What moderators of the embed's community see and do in the thread: posts that wait, marks, and decisions. */

import { call, getMessage, newKey, read, write } from "../panel/api.js";
import { ICONS, fill, h, userText } from "../panel/dom.js";
import { explain } from "../panel/failures.js";
import { place } from "../panel/listing.js";
import { prepare, textsOf } from "../panel/markdown.js";
import { setHeld } from "../panel/own.js";
import { later } from "../panel/scripts.js";
import { current, fresh } from "../panel/session.js";
import { number, settings, t } from "../panel/words.js";
import { showPending } from "../panel/written.js";
import { Discussion } from "./discussion.js";

const AGAIN_MS = 60000;
const LISTED_MAX = 100;
// The service counts up to this number.
const COUNTED_MAX = 100;
const REASON_MAX = 500;
const ERASED = "00000000-0000-0000-0000-000000000000";

Object.assign(ICONS, {
  pin: "M9 4h6l-1 7 3 3H7l3-3zM12 14v6",
  check: "M5 12.5l4.5 4.5L19 7.5",
  hide: "M4 4l16 16M10 5.5a9 9 0 0 1 11 6.5 9.5 9.5 0 0 1-2.5 4M6.5 7A9.5 9.5 0 0 0 3 12a9.5 9.5 0 0 0 13 5",
  ban: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.7 5.7l12.6 12.6",
});

const isListed = ({ status }) => status === "published" || status === "deleted";

export class Moderation {
  /** `panel`: see main.js. `own` is the answer of getOwnModeration, or null for a reader who moderates nothing. */
  constructor(panel, thread) {
    Object.assign(this, { panel, thread, own: null, run: 0, reports: new Map(), banned: new Set() });
    this.waiting = h("a", { class: "waiting", target: "_blank", rel: "noopener", hidden: true });
    this.discussion = new Discussion(this);
    document.querySelector(".top").append(this.waiting, this.discussion.menu.element);
    thread.element.prepend(this.discussion.note, this.discussion.tool);
  }

  /** Load what waits, for the person and the page of now, and again after a while. */
  async load() {
    const run = ++this.run;
    if (this.discussion.pageId !== this.thread.pageId) this.discussion.show(null);
    clearTimeout(this.timer);
    try {
      const found = document.visibilityState === "visible" && (await this.find());
      if (run !== this.run) return;
      if (found) this.show(found);
    } catch (failure) {
      // The marks stay until the next attempt.
      if (run === this.run && failure.signedOut) this.panel.signedOut();
    }
    if (run === this.run && current()?.moderates) this.timer = setTimeout(() => this.load(), AGAIN_MS);
  }

  async find() {
    const { pageId } = this.thread;
    const session = current()?.moderates ? await fresh() : null;
    // The page is being looked up.
    if (session && !pageId) return null;
    const own = session && (await read(session, "/v1/me/moderation", { embedId: settings.serviceId }));
    if (!own?.moderates) return { own: null, pending: [], reported: [], discussion: null };
    const list = async (state) => {
      const query = { communityId: own.communityId, pageId, state, limit: LISTED_MAX };
      return own[state] ? (await read(session, "/v1/moderation/queue", query)).messages : [];
    };
    const isClosed = call("GET", `/v1/communities/${own.communityId}/pages/${pageId}`);
    const [pending, reported, { record: discussion }] = await Promise.all([list("pending"), list("reported"), isClosed]);
    await prepare([...pending, ...reported].flatMap(textsOf));
    return { own, pending, reported, discussion };
  }

  show({ own, pending, reported, discussion }) {
    this.own = own;
    this.discussion.show(discussion);
    this.reports = new Map([...pending, ...reported].map(({ id, reports }) => [id, reports]));
    setHeld(pending);
    showPending(this.thread);
    for (const post of this.thread.all()) this.mark(post);
    const n = own ? own.pending + own.reported : 0;
    this.waiting.hidden = !n;
    if (!n) return;
    this.waiting.href = own.pending ? own.queueUrl : `${own.queueUrl}?state=reported`;
    const isMany = own.pending === COUNTED_MAX || own.reported === COUNTED_MAX;
    this.waiting.textContent = isMany ? t("moderation.waiting_many", { n: COUNTED_MAX }) : t("moderation.waiting", { n });
  }

  /** Mark a post that waits for a decision. Called for each post that is shown or updated. */
  mark(post) {
    const isWithdrawn = post.element.classList.contains("withdrawn");
    if (!isWithdrawn) post.stays = false;
    post.menu.element.hidden = Boolean(post.stays);
    if (this.own && post.isPending) fill(post.review, h("strong", {}, t("moderation.pending")), " ", t("moderation.pending_hint"));
    post.reported?.remove();
    const reports = this.reports.get(post.id) || [];
    if (!reports.length) return;
    const reasons = reports.map(({ reason, note }) => h("li", {}, t(`panel.reason_${reason}`), note && [": ", userText("bdi", note)]));
    post.reported = h("div", { class: "review" }, h("strong", {}, t("moderation.reported", { n: reports.length })), h("ul", {}, reasons));
    post.review.after(post.reported);
  }

  /** The items of the menu of a post. */
  actions(post) {
    const { message } = post;
    const { author, communityId, parentId, pinned, status } = message;
    if (!this.own) return [];
    const isOthers = communityId !== this.own.communityId;
    const mayPin = !isOthers && !parentId && status === "published";
    const isReported = this.reports.get(post.id)?.length > 0;
    const mayBan = author.id !== current()?.userId && author.id !== ERASED && message.authorRole !== "moderator";
    return [
      !isOthers && post.isPending && ["check", t("moderation.approve"), () => this.approve(post)],
      !isOthers && !post.isPending && isReported && ["check", t("moderation.dismiss"), () => this.dismiss(post)],
      mayPin && !pinned && ["pin", t("moderation.pin"), () => this.pin(post)],
      mayPin && pinned && ["pin", t("moderation.unpin"), () => this.unpin(post)],
      !isOthers && ["hide", t("moderation.hide"), () => this.hide(post)],
      isOthers && ["hide", t("moderation.hide_here"), () => this.hideHere(post)],
      mayBan && !this.banned.has(author.id) && ["ban", t("moderation.ban"), () => this.ban(post)],
      mayBan && this.banned.has(author.id) && ["ban", t("moderation.lift"), () => this.lift(post)],
    ].filter(Boolean);
  }

  approve(post) {
    const body = { seenUpdatedAt: post.message.updatedAt };
    const done = () => this.published(post, t("moderation.approved"));
    return this.decide(post, { path: `${of(post)}/approve`, body, label: t("moderation.approve"), question: t("moderation.approve_question"), done });
  }

  dismiss(post) {
    const body = { seenUpdatedAt: post.message.updatedAt };
    const done = () => {
      this.reports.delete(post.id);
      this.mark(post);
      this.decided(t("moderation.dismissed"));
    };
    return this.decide(post, { path: `${of(post)}/approve`, body, label: t("moderation.dismiss"), question: t("moderation.dismiss_question"), done });
  }

  pin(post) {
    const done = () => this.pinned(post, true, t("moderation.pinned_now"));
    return this.decide(post, { path: `${of(post)}/pin`, label: t("moderation.pin"), question: t("moderation.pin_question"), reason: t("moderation.reason_here"), done });
  }

  async unpin(post) {
    const isDone = await this.attempt((session) => write(session, "DELETE", `${of(post)}/pin`, { key: newKey() }));
    // The list says what is pinned, if another moderator has unpinned it.
    if (isDone) await this.pinned(post, false, t("moderation.unpinned"));
    else await this.thread.refresh();
  }

  /** Move a post, unless the list was loaded again without it. */
  pinned({ id }, pinned, text) {
    const post = this.thread.posts.get(id);
    if (post) {
      place(this.thread, post, { ...post.message, pinned });
      post.menu.button.focus();
    }
    return this.decided(text);
  }

  hide(post) {
    const restore = (session) => write(session, "POST", `${of(post)}/restore`, { body: { undo: true }, key: newKey() });
    const done = () => this.hidden(post, t("moderation.hidden"), restore);
    return this.decide(post, { path: `${of(post)}/hide`, label: t("moderation.hide"), question: t("moderation.hide_question"), kind: "danger", done });
  }

  hideHere(post) {
    const path = `${this.community}/hidden`;
    const restore = (session) => write(session, "DELETE", `${path}/${post.id}`, { key: newKey() });
    const done = () => this.hidden(post, t("moderation.hidden_here"), restore);
    return this.decide(post, { path, body: { messageId: post.id }, label: t("moderation.hide_here"), question: t("moderation.hide_here_question"), reason: t("moderation.reason_here"), kind: "danger", done });
  }

  ban(post) {
    const { id: accountId, name } = post.message.author;
    const done = () => {
      this.banned.add(accountId);
      this.decided(t("moderation.banned", { name }));
    };
    return this.decide(post, { path: `${this.community}/bans`, body: { accountId }, label: t("moderation.ban"), question: t("moderation.ban_question", { name }), hint: t("moderation.ban_hint"), reason: t("moderation.reason_ban"), isRequired: true, kind: "danger", done });
  }

  async lift(post) {
    const { id } = post.message.author;
    const isLifted = await this.attempt((session) => write(session, "DELETE", `${this.community}/bans/${id}`, { key: newKey() }));
    if (!isLifted) return;
    this.banned.delete(id);
    this.decided(t("moderation.lifted"));
  }

  get community() {
    return `/v1/moderation/communities/${this.own.communityId}`;
  }

  /** Show the form of a decision, with a field for its reason. `done()` is called when the service has taken it. */
  async decide(post, { path, body = {}, label, question, hint, reason = t("moderation.reason"), isRequired = false, kind, done }) {
    try {
      const { PostForm } = await later("form");
      const field = h("input", { type: "text", dir: "auto", maxlength: REASON_MAX, required: isRequired, "aria-label": reason, placeholder: reason });
      const fields = [h("p", {}, h("strong", {}, question), hint && [" ", hint]), field];
      const send = (session, key) => write(session, "POST", path, { body: { ...body, reason: field.value }, key });
      new PostForm(post, { fields, label, kind, send, done }).show(field);
    } catch (failure) {
      this.panel.failed(failure, explain(failure));
    }
  }

  /** Send what needs no form; returns whether the service has taken it. */
  async attempt(send) {
    const session = await this.panel.signedIn();
    if (!session) return null;
    try {
      return await send(session);
    } catch (failure) {
      this.panel.failed(failure, explain(failure));
      return null;
    }
  }

  /** Tell a decision, and load what still waits. */
  decided(text) {
    this.panel.announce(text);
    return this.load();
  }

  /** A post is public now, unless one above it is hidden. */
  async published(post, text) {
    this.reports.delete(post.id);
    const message = await getMessage(post.id).catch(() => null);
    if (message) post.update(message);
    else post.withdraw();
    await this.decided(text);
  }

  /** Leave the place of a post that was hidden, with a button to restore it, until the list is loaded again. */
  hidden(post, text, restore) {
    const button = h("button", { type: "button", class: "quiet more", onclick: () => this.restore(post, restore) }, t("moderation.restore"));
    post.replies.posts.forEach((reply) => reply.withdraw());
    post.replies.element.hidden = true;
    Object.assign(post, { stays: true, version: null });
    post.element.classList.add("withdrawn");
    fill(post.said, h("p", { class: "gone" }, text), button);
    this.reports.delete(post.id);
    this.mark(post);
    button.focus({ preventScroll: true });
    return this.decided(text);
  }

  async restore(post, send) {
    const answer = await this.attempt(send);
    if (!answer) return;
    // A hidden reply is not loaded any more.
    Object.assign(post.replies, { open: false, cursor: null });
    const { status } = answer.record;
    const message = !status || isListed({ status }) ? await getMessage(post.id).catch(() => null) : { ...post.message, status };
    if (message) post.update(message);
    else this.panel.announce(t("error.message_not_found"));
    post.menu.button.focus({ preventScroll: true });
    await this.decided(t("moderation.restored"));
  }
}

const of = ({ id }) => `/v1/moderation/messages/${id}`;
