/** Stores the session, the drafts and pending posts for the life of the tab, or of the panel if the browser forbids storage. */

const values = new Map();

export function load(name) {
  if (values.has(name)) return values.get(name);
  values.set(name, stored(name));
  return values.get(name);
}

function stored(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

/** Store a JSON value; null deletes it. */
export function store(name, value) {
  values.set(name, value);
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is blocked or full: the value in `values` is used.
  }
}
