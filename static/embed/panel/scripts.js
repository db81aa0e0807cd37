/** Imports the scripts that only some readers need, when they are first used. */

import { settings } from "./words.js";

const attempts = new Map();
const created = new Map();
let shared = null;

/** Browsers do not load an address again whose module could not be loaded: each attempt has an address of its own. */
export function importScript(url) {
  const attempt = attempts.get(url) || 0;
  return import(attempt ? `${url}&attempt=${attempt}` : url).catch(() => {
    attempts.set(url, attempt + 1);
    throw Object.assign(new Error(url), { code: "network" });
  });
}

/** Called by the script itself with the modules of the panel that those of other scripts use. */
export function share(modules) {
  shared = modules;
}

/** A module of static/embed/later, or of another script, by its name. */
export async function later(name, url = settings.laterUrl) {
  const { create } = await importScript(url);
  if (!created.has(url)) created.set(url, create(shared));
  return created.get(url)[`$${name}`];
}
