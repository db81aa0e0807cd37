/** Opens the picker of all emoji: its script and its names are loaded at that time. */

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { load, store } from "./memory.js";
import { settings, t } from "./words.js";

const RECENT = "emoji";
const RECENT_MAX = 16;

export function remember(emoji) {
  const others = (load(RECENT) || []).filter((known) => known !== emoji);
  store(RECENT, [emoji, ...others].slice(0, RECENT_MAX));
}

let attempts = 0;

/** An address whose module could not be loaded is not loaded again. */
function loadScript() {
  return import(`${settings.pickerUrl}${attempts ? `&attempt=${attempts}` : ""}`).catch((failure) => {
    attempts += 1;
    throw failure;
  });
}

/** Returns a picker, which calls `onPick(emoji)`. */
export async function openPicker(onPick) {
  const [{ Picker }, { record }] = await Promise.all([loadScript(), call("GET", settings.emojiUrl)]);
  return new Picker({ groups: record, recent: load(RECENT) || [], onPick, tools: { h, fill, t } });
}
