/**
 * Stores on this site, for 30 days and for all tabs: drafts, own posts that await review, the emoji of the last reactions,
 * and the chosen order of the posts. Where the browser blocks storage, all but the order is in a cookie of the panel's
 * page: a reader who neither writes nor signs in gets none. The order, and what the cookie has no room for, last as long
 * as the panel.
 */

const PREFIX = "panel ";
const COOKIE = "panel-drafts";
const COOKIE_MAX = 3500;
const SECONDS = 30 * 24 * 3600;
const unstored = new Map();
const storage = storageOrNull();

function storageOrNull() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export function load(name) {
  if (unstored.has(name)) return unstored.get(name);
  try {
    const [value, until] = storage ? JSON.parse(storage.getItem(PREFIX + name)) : inCookie()[name];
    return until > Date.now() ? value : null;
  } catch {
    return null;
  }
}

/** Store a JSON value; null deletes it. `onlyInStorage`: in no cookie, for what readers choose before they write or sign in. */
export function store(name, value, onlyInStorage = false) {
  const entry = value === null ? null : [value, Date.now() + 1000 * SECONDS];
  const isStored = storage ? storeItem(PREFIX + name, entry) : !(onlyInStorage && entry) && storeInCookie(name, entry);
  if (isStored) unstored.delete(name);
  else unstored.set(name, value);
}

/** Delete all that is stored on this site. */
export function forget() {
  unstored.clear();
  if (storage) namesIn(storage).forEach((name) => storage.removeItem(name));
  else writeCookie({});
}

const namesIn = (items) => Object.keys(items).filter((name) => name.startsWith(PREFIX));

function storeItem(name, entry) {
  try {
    if (entry) storage.setItem(name, JSON.stringify(entry));
    else storage.removeItem(name);
    return true;
  } catch {
    // Storage is full.
    return false;
  }
}

/** Store an entry in the cookie in place of the oldest ones; returns whether it fits, and the browser accepts it. */
function storeInCookie(name, entry) {
  const entries = inCookie();
  for (const other in entries) if (other === name || entries[other][1] < Date.now()) delete entries[other];
  if (entry && JSON.stringify(entry).length < COOKIE_MAX) entries[name] = entry;
  for (const oldest of Object.keys(entries)) {
    if (encode(entries).length <= COOKIE_MAX) break;
    delete entries[oldest];
  }
  writeCookie(entries);
  return !entry || name in inCookie();
}

function inCookie() {
  try {
    const value = document.cookie.split("; ").find((part) => part.startsWith(`${COOKIE}=`)).slice(COOKIE.length + 1);
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(value), (byte) => byte.charCodeAt(0))));
  } catch {
    return {};
  }
}

const encode = (entries) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(entries))));

/** The browser sends the cookie with the panel's page only, and separates it by the site around the panel. */
function writeCookie(entries) {
  const age = Object.keys(entries).length ? SECONDS : 0;
  document.cookie = `${COOKIE}=${encode(entries)}; Max-Age=${age}; Path=/embed/panel; Secure; SameSite=None; Partitioned`;
}

// Entries that are too old.
if (storage) namesIn(storage).map((name) => name.slice(PREFIX.length)).forEach((name) => load(name) === null && store(name, null));
