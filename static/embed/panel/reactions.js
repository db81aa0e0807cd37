/** The reactions of one post: counts to press, a row of emoji to choose from, and who reacted. */

import { count } from "./analytics.js";
import { listReactions, newKey, write } from "./api.js";
import { fill, h, icon, said } from "./dom.js";
import { explain } from "./failures.js";
import { current } from "./session.js";
import { number, t } from "./words.js";

const OFFERED = ["👍", "❤️", "😂", "🎉", "🤔", "👀", "🙏", "😮"];

export class Reactions {
  /** `desk`: { signedIn(), announce(text) }; `signedIn` answers a session or null. */
  constructor(message, desk) {
    this.id = message.id;
    this.desk = desk;
    this.own = undefined;
    this.chips = h("div", { class: "reactions", role: "group", "aria-label": t("panel.reactions") });
    this.add = h("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: () => this.toggleChoice() }, icon("smile"), t("panel.react"));
    this.choice = h("div", { class: "choice", role: "group", "aria-label": t("panel.react"), hidden: true });
    this.choice.addEventListener("keydown", (event) => event.key === "Escape" && this.closeChoice(event));
    this.update(message.reactionCounts);
  }

  update(counts) {
    this.counts = counts || {};
    const used = Object.entries(this.counts).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
    fill(this.chips, used.map(([emoji, n]) => this.chip(emoji, n)));
    this.chips.hidden = used.length === 0;
  }

  chip(emoji, n) {
    return h("button", {
      type: "button", class: "chip", "aria-pressed": String(this.own === emoji),
      "aria-label": t("panel.reaction", { emoji, n }), onclick: () => this.press(emoji),
    }, said("span", emoji, { class: "emoji" }), number(n));
  }

  async toggleChoice() {
    if (!this.choice.hidden) return this.closeChoice();
    const names = h("p", { class: "names" });
    fill(this.choice, OFFERED.map((emoji) => h("button", { type: "button", class: "emoji", "aria-label": emoji, onclick: () => this.press(emoji) }, emoji)), names);
    this.choice.hidden = false;
    this.add.setAttribute("aria-expanded", "true");
    this.choice.querySelector("button").focus();
    try {
      const { reactions, counts } = await listReactions(this.id);
      this.learn(reactions, counts);
      fill(names, reactions.slice(0, 8).map(({ emoji, author }) => h("span", {}, emoji, " ", said("bdi", author.name))));
    } catch {
      // Who reacted is a courtesy; choosing works without it.
    }
  }

  closeChoice(event) {
    if (event) event.stopPropagation();
    this.choice.hidden = true;
    this.add.setAttribute("aria-expanded", "false");
    this.add.focus();
  }

  /** Press one emoji: sets it, takes it back, or replaces the one set before. */
  async press(emoji) {
    if (!this.choice.hidden) this.closeChoice();
    const session = await this.desk.signedIn();
    if (!session || this.busy) return;
    this.busy = true;
    try {
      const { record } = await write(session, "POST", "/v1/reactions", { body: { messageId: this.id, emoji }, key: newKey() });
      this.own = record.action === "removed" ? null : emoji;
      if (record.action !== "removed") count("reaction_added");
      this.update({ ...this.counts, [emoji]: record.count });
      this.desk.announce(t("panel.reaction", { emoji, n: record.count }));
      const { reactions, counts } = await listReactions(this.id);
      this.learn(reactions, counts);
    } catch (failure) {
      this.desk.failed(failure, explain(failure));
    } finally {
      this.busy = false;
    }
  }

  learn(reactions, counts) {
    const session = current();
    const own = session && reactions.find(({ author }) => author.id === session.userId);
    if (own) this.own = own.emoji;
    this.update(counts);
  }
}
