/** What lives as long as the tab: the session and the drafts. Where the browser forbids storage, as long as the panel. */

const kept = new Map();

export function recall(name) {
  if (kept.has(name)) return kept.get(name);
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

/** Remember a value that JSON can hold; null forgets. */
export function remember(name, value) {
  kept.set(name, value);
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is blocked or full: the copy in memory has to do.
  }
}
