/** Who is signed in. The sign-in window hands over a user token, which only this panel's own origin ever sees. */

import { recall, remember } from "./memory.js";
import { language } from "./words.js";

const NAME = "session";
const WINDOW = "popup,width=440,height=680";
const listeners = new Set();
let waiting = null;

/** { token, userId, expiresAt, user } or null. */
export function current() {
  const session = recall(NAME);
  return session && new Date(session.expiresAt) > Date.now() ? session : null;
}

export function onChange(listener) {
  listeners.add(listener);
}

export function signOut() {
  set(null);
}

function set(session) {
  remember(NAME, session);
  listeners.forEach((listener) => listener());
}

/**
 * Open the sign-in window; call it directly from a click. Answers the session, null when the person closed the window,
 * undefined when the browser refused to open one.
 */
export function signIn() {
  if (waiting) waiting.stop(null);
  const nonce = crypto.randomUUID();
  const opened = window.open(`/embed/sign-in?lang=${language}#${nonce}`, "_blank", WINDOW);
  if (!opened) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    waiting = { opened, nonce, stop: finish };
    const watch = setInterval(() => opened.closed && finish(null), 400);
    function finish(session) {
      clearInterval(watch);
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
