/** Opens the picker of all emoji: its script and its names are loaded at that time. */

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { load, store } from "./memory.js";
import { importScript } from "./scripts.js";
import { settings, t } from "./words.js";

const RECENT = "emoji";
const RECENT_MAX = 16;

export function remember(emoji) {
  const others = (load(RECENT) || []).filter((known) => known !== emoji);
  store(RECENT, [emoji, ...others].slice(0, RECENT_MAX));
}

/** Returns a picker, which calls `onPick(emoji)`. */
export async function openPicker(onPick) {
  const [{ Picker }, { record }] = await Promise.all([importScript(settings.pickerUrl), call("GET", settings.emojiUrl)]);
  return new Picker({ groups: record, recent: load(RECENT) || [], onPick, tools: { h, fill, t } });
}
