/** The session of the panel. The sign-in window posts a user token, which only the origin of the panel can read. */

import { load, store } from "./memory.js";
import { language } from "./words.js";

const NAME = "session";
const WINDOW = "popup,width=440,height=680";
const listeners = new Set();
let waiting = null;

/** Return { token, userId, expiresAt, user }, or null without a valid session. */
export function current() {
  const session = load(NAME);
  return session && new Date(session.expiresAt) > Date.now() ? session : null;
}

export function onChange(listener) {
  listeners.add(listener);
}

export function signOut() {
  set(null);
}

function set(session) {
  store(NAME, session);
  listeners.forEach((listener) => listener());
}

/**
 * Open the sign-in window; call it directly from a click handler. Resolves to the session, to null if the person closed
 * the window, or to undefined if the browser blocked it.
 */
export function signIn() {
  if (waiting) waiting.stop(null);
  const nonce = crypto.randomUUID();
  const opened = window.open(`/embed/sign-in?lang=${language}#${nonce}`, "_blank", WINDOW);
  if (!opened) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    waiting = { opened, nonce, stop: finish };
    const timer = setInterval(() => opened.closed && finish(null), 400);
    function finish(session) {
      clearInterval(timer);
      waiting = null;
      resolve(session);
    }
  });
}

addEventListener("message", ({ origin, source, data }) => {
  if (!waiting || origin !== location.origin || source !== waiting.opened) return;
  if (!data || data.type !== "signed-in" || data.nonce !== waiting.nonce) return;
  const { token, userId, expiresAt, user } = data;
  const session = { token, userId, expiresAt, user };
  set(session);
  waiting.stop(session);
});
