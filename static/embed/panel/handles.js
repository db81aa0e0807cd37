/** Marks the handles of mentions in texts, by the rule of the service. */

import { h } from "./dom.js";

const MENTION = /(?<![\p{L}\p{N}_])(@[A-Za-z0-9_]{3,30})(?![\p{L}\p{N}_])/u;

/** A text as strings and marked handles. */
export function withMentions(text) {
  return text.split(MENTION).map((part, at) => (at % 2 ? h("bdi", { class: "mention" }, part) : part));
}
