/**
 * The session of the panel: a cookie of this site that scripts cannot read, and a user token of 15 minutes that the
 * service returns for it. Where the browser blocks the cookie, a user token is stored for the life of the tab.
 */

import { call, newKey } from "./api.js";
import { forget } from "./memory.js";
import { Retry } from "./retry.js";
import { language, settings } from "./words.js";

const NAME = "session";
const WINDOW = "popup,width=440,height=680";
const MARGIN_MS = 30000;
const GUARD = { "X-Community-Panel": "1" };
const listeners = new Set();
const tabs = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
const retry = new Retry(renewQuietly);
// Whether the browser may have the cookie: the service has seen one with the page.
let hasCookie = settings.hasSession;
let session = hasCookie ? null : storedInTab();
let renewing = null;
let waiting = null;
// The session that begins after the window has closed.
let starting = null;

const isFresh = () => session !== null && session.until - MARGIN_MS > Date.now();

/** Return { token, userId, user } of the signed-in person, or null. For a call with the token, use `fresh`. */
export function current() {
  return hasCookie || isFresh() ? session : null;
}

/** Return the session with a valid token, or null. Rejects if the service is needed for it and not reached. */
export async function fresh() {
  return isFresh() ? session : renew();
}

/** Whether it is still unknown who is signed in. */
export const isUnknown = () => hasCookie && session === null;

export function onChange(listener) {
  listeners.add(listener);
}

function set(next) {
  const changed = (session && session.userId) !== (next && next.userId);
  session = next;
  if (changed) listeners.forEach((listener) => listener());
}

/** Where tokens come from: the cookie, or the accounts of the site (static/embed/later/accounts.js). */
let source = {
  exchange: () => guarded("POST", "/api/auth/panel-token"),
  signOut: () => guarded("DELETE", "/api/auth/panel-session"),
};

/** Sign in again, by another source. */
export function signInBy(next) {
  source = next;
  hasCookie = true;
  session = null;
  renewQuietly();
}

const guarded = (method, path, headers) => call(method, path, { headers: { ...GUARD, ...headers }, credentials: "same-origin" });

/** Exchange the cookie for a token. Resolves to the session, or to null without one. */
function renew() {
  if (!hasCookie) return Promise.resolve(current());
  renewing = renewing || exchange().finally(() => { renewing = null; });
  return renewing;
}

async function exchange() {
  try {
    const { record } = await source.exchange();
    // The person may have signed out meanwhile.
    if (!hasCookie) return null;
    retry.stop();
    set({ ...record, until: Date.now() + 1000 * record.expiresIn });
    return session;
  } catch (failure) {
    if (!failure.signedOut) throw failure;
    leave();
    return null;
  }
}

/** Find out who is signed in, also later if the service is not reached now. */
export function renewQuietly() {
  renew().catch((failure) => retry.after(failure));
}

/** The service has refused the token: ask for another one, or find that the session has ended. */
export function refused() {
  if (!hasCookie) return leave();
  session = session && { ...session, until: 0 };
  renewQuietly();
}

/** Sign out on this site, in every tab, and delete what is stored here. Rejects if the service is not reached. */
export async function signOut() {
  if (hasCookie) await source.signOut();
  forget();
  leave();
  tell("signed-out");
}

export function leave() {
  hasCookie = false;
  session = null;
  storeInTab(null);
  listeners.forEach((listener) => listener());
}

/** Open a session with what the sign-in window has got. */
async function start({ accessToken, user }) {
  const headers = { Authorization: `Bearer ${accessToken}` };
  hasCookie = await guarded("POST", "/api/auth/panel-session", headers).then(() => true, () => false);
  if (await renew()) {
    tell("signed-in");
    return session;
  }
  // The browser does not send the cookie.
  const { record } = await call("POST", "/api/auth/embed-token", { headers });
  storeInTab({ ...record, user });
  set({ ...record, user, until: Date.parse(record.expiresAt) });
  return session;
}

/**
 * Open the sign-in window; call it directly from a click handler. Resolves to the session, to null if the person closed
 * the window, or to undefined if the browser blocked it.
 */
export function signIn() {
  if (starting) return starting;
  if (waiting) waiting.finish(null);
  const nonce = newKey();
  const opened = window.open(`/embed/sign-in?lang=${language}#${nonce}`, "_blank", WINDOW);
  if (!opened) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const timer = setInterval(() => opened.closed && finish(null), 400);
    waiting = { opened, nonce, finish };
    function finish(result) {
      clearInterval(timer);
      waiting = null;
      opened.close();
      resolve(result);
    }
  });
}

addEventListener("message", ({ origin, source, data }) => {
  if (!waiting || origin !== location.origin || source !== waiting.opened) return;
  if (data && data.type === "signed-in" && data.nonce === waiting.nonce) {
    starting = start(data).finally(() => { starting = null; });
    waiting.finish(starting);
  }
});

/** Tell the other tabs of this site. */
function tell(what) {
  if (tabs) tabs.postMessage(what);
}

if (tabs) {
  tabs.onmessage = ({ data }) => {
    if (data === "signed-out") return leave();
    hasCookie = true;
    renewQuietly();
  };
}

function storedInTab() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(NAME));
    return stored && { ...stored, until: Date.parse(stored.expiresAt) };
  } catch {
    return null;
  }
}

function storeInTab(value) {
  try {
    if (value) sessionStorage.setItem(NAME, JSON.stringify(value));
    else sessionStorage.removeItem(NAME);
  } catch {
    // Storage is blocked.
  }
}
