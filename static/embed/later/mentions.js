/** Completes handles while a text is written. */

import { call } from "../panel/api.js";
import { fill, h, userText } from "../panel/dom.js";
import { settings, t } from "../panel/words.js";

const BEGUN = /(?<!\w)[@\uff20]([\p{L}\p{M}\p{N}_]{0,30})$/u;
// A word of a name begins after a space, and at each letter of a script without spaces: messaging/word_lists/characters.py.
export const UNSPACED = /(?=[\p{L}\p{Nd}\p{Nl}])[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{sc=Bopo}\p{scx=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}\p{sc=Ahom}]/u;
const WORD = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])[\\p{L}\\p{N}]|${UNSPACED.source}`, "gu");
const SHOWN_MAX = 5;
const MOVES = ["ArrowLeft", "ArrowRight", "Home", "End"];
const participants = new Map();
let lists = 0;

/** Those who wrote on a page, in what the embed shows: accounts. */
async function listParticipants(pageId) {
  const query = { embedId: settings.serviceId, pageId };
  return (await call("GET", "/v1/presence/participants", { query })).record.participants;
}

/** Those in the thread first, then the others of the page, who are loaded once. */
async function people({ pageId, authors }) {
  const page = pageId();
  if (!participants.has(page)) participants.set(page, await listParticipants(page).catch(() => null));
  const others = participants.get(page) || [];
  if (!participants.get(page)) participants.delete(page);
  return [...new Map([...authors(), ...others].map((account) => [account.handle, account])).values()];
}

/** A name from each of its words on. */
function beginnings(name) {
  return [...name.matchAll(WORD)].map(({ index }) => name.slice(index));
}

/** The accounts with this beginning of their handle, then those with this beginning of a word of their name. */
function matching(accounts, text) {
  const byHandle = accounts.filter(({ handle }) => handle.startsWith(text));
  const byName = accounts.filter(({ name }) => beginnings(name.toLowerCase()).some((end) => end.startsWith(text)));
  return [...new Set([...byHandle, ...byName])];
}

/** The list below a text field: `take` handles its keys, the option that they chose is `aria-activedescendant`. */
export class Mentions {
  constructor(area, panel) {
    Object.assign(this, { area, panel, options: [], chosen: 0, dismissed: -1, run: 0 });
    this.list = h("ul", { class: "mentions", role: "listbox", id: `mentions-${++lists}`, "aria-label": t("panel.mention"), hidden: true });
    for (const [name, value] of [["autocomplete", "list"], ["haspopup", "listbox"], ["controls", this.list.id]]) area.setAttribute(`aria-${name}`, value);
    for (const type of ["input", "compositionend", "click"]) area.addEventListener(type, (event) => event.isComposing || this.update());
    area.addEventListener("keyup", ({ key }) => MOVES.includes(key) && this.update());
    area.addEventListener("blur", () => this.close());
  }

  /** The beginning of a handle or name before the caret: { start, text }, or null. */
  begun() {
    const { selectionStart: caret, selectionEnd, value } = this.area;
    const found = caret === selectionEnd && BEGUN.exec(value.slice(0, caret));
    return found ? { start: found.index, text: found[1].toLowerCase() } : null;
  }

  async update() {
    const run = ++this.run;
    if (!this.begun()) this.dismissed = -1;
    if (!this.begun() || this.begun().start === this.dismissed) return this.close();
    const all = await people(this.panel);
    const begun = this.begun();
    if (run !== this.run || !begun || document.activeElement !== this.area) return;
    const found = matching(all, begun.text).slice(0, SHOWN_MAX);
    const isComplete = found.length === 1 && found[0].handle === begun.text;
    this.show(isComplete ? [] : found);
  }

  show(accounts) {
    this.options = accounts;
    fill(this.list, accounts.map((account, at) => this.option(account, at)));
    this.list.hidden = !accounts.length;
    this.choose(0);
  }

  option({ handle, name }, at) {
    // The text field holds the focus.
    const props = { role: "option", id: `${this.list.id}-${at}`, onpointerdown: (event) => event.preventDefault(), onclick: () => this.complete(at) };
    return h("li", props, userText("bdi", name), h("span", { class: "meta" }, `@${handle}`));
  }

  choose(at) {
    this.chosen = at;
    [...this.list.children].forEach((option, each) => option.setAttribute("aria-selected", String(each === at)));
    if (this.options.length) this.area.setAttribute("aria-activedescendant", this.list.children[at].id);
    else this.area.removeAttribute("aria-activedescendant");
  }

  close() {
    this.run += 1;
    this.show([]);
  }

  /** Handle a key of the open list; returns whether it did. */
  take(event) {
    const count = this.options.length;
    if (!count || event.target !== this.area || event.ctrlKey || event.metaKey || event.altKey) return false;
    const acts = {
      ArrowDown: () => this.choose((this.chosen + 1) % count),
      ArrowUp: () => this.choose((this.chosen + count - 1) % count),
      Enter: () => this.complete(this.chosen),
      Tab: () => this.complete(this.chosen),
      Escape: () => this.dismiss(),
    };
    if (!Object.hasOwn(acts, event.key) || event.shiftKey) return false;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
    return true;
  }

  dismiss() {
    this.dismissed = this.begun()?.start ?? -1;
    this.close();
  }

  complete(at) {
    const begun = this.begun();
    // A script or the browser may have moved the caret, or changed the text.
    if (!begun) return this.close();
    const { handle } = this.options[at];
    this.area.setRangeText(`@${handle} `, begun.start, this.area.selectionEnd, "end");
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
