/** The reactions of one post: buttons with counts, a row of emoji to choose from, and the names of those who reacted. */

import { count } from "./analytics.js";
import { call, listReactions, newKey, write } from "./api.js";
import { fill, h, icon, userText } from "./dom.js";
import { explain } from "./failures.js";
import { load, store } from "./memory.js";
import { importScript } from "./scripts.js";
import { current } from "./session.js";
import { number, settings, t } from "./words.js";

const OFFERED = ["👍", "❤️", "😂", "🎉", "🤔", "👀", "🙏", "😮"];
// The name under which the last chosen ones are stored.
const RECENT = "emoji";
const RECENT_MAX = 16;

function remember(emoji) {
  const others = (load(RECENT) || []).filter((known) => known !== emoji);
  store(RECENT, [emoji, ...others].slice(0, RECENT_MAX));
}

/** Returns a picker of all emoji, whose script and names are loaded now. It calls `onPick(emoji)`. */
async function openPicker(onPick) {
  const [{ Picker }, { record }] = await Promise.all([importScript(settings.pickerUrl), call("GET", settings.emojiUrl)]);
  return new Picker({ groups: record, recent: load(RECENT) || [], onPick, tools: { h, fill, t } });
}

export class Reactions {
  /** `panel`: see main.js. */
  constructor(message, panel) {
    this.id = message.id;
    this.panel = panel;
    Object.assign(this, { known: new Map(), busy: false, presses: 0, keys: {} });
    this.chips = h("div", { class: "reactions", role: "group", "aria-label": t("panel.reactions"), hidden: true });
    this.add = h("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: () => this.toggleChoice() }, icon("smile"), t("panel.react"));
    this.choice = h("div", { class: "choice", role: "group", "aria-label": t("panel.react"), hidden: true });
    this.choice.addEventListener("keydown", (event) => event.key === "Escape" && this.closeChoice(event));
    this.update(message.reactionCounts);
  }

  /** The reader's own emoji, or null. */
  get own() {
    return this.panel.own.of(this.id);
  }

  update(counts) {
    this.counts = counts || {};
    this.show();
  }

  show() {
    const used = Object.entries(this.counts).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
    this.arrange(used.map(([emoji, n]) => this.chip(emoji, n)));
  }

  /** Return the chip of an emoji. It stays the same element while counts change, so that no click or focus is lost. */
  chip(emoji, n) {
    if (!this.known.has(emoji)) {
      this.known.set(emoji, h("button", { type: "button", class: "chip", onclick: () => this.press(emoji) }, userText("span", emoji, { class: "emoji" }), h("span")));
    }
    const chip = this.known.get(emoji);
    chip.setAttribute("aria-pressed", String(this.own === emoji));
    chip.setAttribute("aria-disabled", String(this.busy));
    chip.setAttribute("aria-label", t("panel.reaction", { emoji, n }));
    chip.lastChild.textContent = number(n);
    return chip;
  }

  arrange(chips) {
    const focused = [...this.chips.children].find((chip) => chip === document.activeElement);
    [...this.chips.children].filter((chip) => !chips.includes(chip)).forEach((chip) => chip.remove());
    chips.forEach((chip, at) => {
      const existing = this.chips.children[at];
      if (chip !== existing) this.chips.insertBefore(chip, existing || null);
    });
    this.chips.hidden = chips.length === 0;
    if (focused && focused !== document.activeElement) (chips.includes(focused) ? focused : this.add).focus({ preventScroll: true });
  }

  toggleChoice() {
    if (!this.choice.hidden) return this.closeChoice();
    const names = h("p", { class: "names" });
    fill(this.choice, OFFERED.map((emoji) => h("button", { type: "button", class: "emoji", "aria-label": emoji, "aria-pressed": String(this.own === emoji), onclick: () => this.press(emoji) }, emoji)), this.more(), this.picker, names);
    this.choice.hidden = false;
    this.add.setAttribute("aria-expanded", "true");
    this.choice.querySelector("button").focus();
    this.refresh(names);
  }

  /** The button that opens the picker of all emoji. */
  more() {
    this.picker = h("div", { class: "picker-place" });
    const button = h("button", { type: "button", "aria-label": t("panel.more_emoji"), title: t("panel.more_emoji"), "aria-expanded": "false", onclick: () => this.openPicker(button) }, icon("more"));
    return button;
  }

  async openPicker(button) {
    const place = this.picker;
    if (place.firstChild || this.isOpening) return;
    this.isOpening = true;
    try {
      const picker = await openPicker((emoji) => this.press(emoji));
      fill(place, picker.element);
      button.setAttribute("aria-expanded", "true");
      if (!place.isConnected || this.choice.hidden) return;
      picker.field.focus({ preventScroll: true });
      picker.element.scrollIntoView({ block: "nearest" });
    } catch {
      this.panel.failed({}, t("error.network"));
    } finally {
      this.isOpening = false;
    }
  }

  closeChoice(event) {
    if (event) event.stopPropagation();
    this.choice.hidden = true;
    this.add.setAttribute("aria-expanded", "false");
    this.add.focus();
  }

  /**
   * Press an emoji: sets the reaction, removes it, or replaces the previous one. Only one that is shown as the reader's own
   * is removed: without `toggle`, a reaction that the panel does not know yet stays.
   */
  async press(emoji) {
    if (this.busy) return;
    if (!this.choice.hidden) this.closeChoice();
    const toggle = this.own === emoji;
    const session = await this.panel.signedIn();
    if (!session || this.busy) return;
    this.setBusy(true);
    // A press that failed may have removed the reaction: with another key, its retry would set it again.
    const name = emoji + toggle;
    const key = this.keys[name] || newKey();
    this.keys = { [name]: key };
    try {
      const { record } = await write(session, "POST", "/v1/reactions", { body: { messageId: this.id, emoji, toggle }, key });
      this.keys = {};
      const isRemoved = record.action === "removed";
      this.panel.own.set(this.id, isRemoved ? null : emoji);
      if (!isRemoved) {
        if (record.action !== "unchanged") count("reaction_added");
        remember(emoji);
      }
      this.counts = { ...this.counts, [emoji]: record.count };
      this.panel.announce(t(isRemoved ? "panel.unreacted" : "panel.reacted", { emoji }));
    } catch (failure) {
      this.panel.failed(failure, explain(failure));
    }
    this.setBusy(false);
    this.presses += 1;
    this.refresh();
  }

  setBusy(busy) {
    this.busy = busy;
    this.update(this.counts);
  }

  /**
   * Load the reactions of others and the reader's own, and fill `names` with those who reacted. A response from before a
   * later press changes no count.
   */
  async refresh(names) {
    const { presses } = this;
    try {
      const { reactions, counts } = await listReactions(this.id);
      if (presses === this.presses && !this.busy) this.learn(reactions, counts);
      if (names) fill(names, reactions.slice(0, 8).map(({ emoji, author }) => h("span", {}, emoji, " ", userText("bdi", author.name))));
    } catch {
      // The names are optional. The count of a pressed emoji is known; the next refresh of the thread updates the others.
    }
  }

  /** Apply a change of the log. One by the reader, in another window, sets what the next press does. */
  changed(type, { emoji, author }) {
    const session = current();
    if (this.busy || !session || !author || author.id !== session.userId) return;
    this.keys = {};
    this.panel.own.set(this.id, type === "reaction.removed" ? null : emoji);
    this.update(this.counts);
  }

  learn(reactions, counts) {
    const session = current();
    const own = session && reactions.find(({ author }) => author.id === session.userId);
    if (own) this.panel.own.set(this.id, own.emoji);
    this.update(counts);
  }
}
