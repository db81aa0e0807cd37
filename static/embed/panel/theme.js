/** The colours of the panel: those of the embed, or of a site's variables, whose rules are loaded for such sites. */

import { firstVariables } from "./host.js";
import { later } from "./scripts.js";
import { settings } from "./words.js";

const { style } = document.documentElement;

export function firstTheme() {
  try {
    return JSON.parse(firstVariables);
  } catch {
    return null;
  }
}

/** `values`: texts by name; see VARIABLES of the loader's theme.js. */
export async function applyTheme(values) {
  if (values) return (await later("variables")).applyVariables(values);
  style.setProperty("--accent", settings.accent);
  style.setProperty("--on-accent", settings.onAccent);
}
