/** Accounts of the site: the page around the panel gives tokens of the site, which are exchanged for user tokens. */

import { call } from "../panel/api.js";
import { embedded, listen, post } from "../panel/host.js";
import { leave, signInBy } from "../panel/session.js";
import { settings } from "../panel/words.js";

// The page may ask its server.
const ASK_MS = 15000;
let give = null;
// The first token, with which the page has shown that its reader is signed in.
let first = null;

/** A token from the page; null if it has none. */
function ask() {
  return new Promise((resolve) => {
    give = resolve;
    setTimeout(resolve, ASK_MS, null);
    post({ type: "token-please" });
  });
}

/** The console tells the site why a token is refused; its reader is signed out, and can read. */
async function exchange() {
  const token = first || (await ask());
  first = null;
  try {
    if (token) return await call("POST", "/api/auth/site-token", { body: { embedId: settings.serviceId, token } });
  } catch (failure) {
    if (failure.status !== 401 && failure.status !== 403) throw failure;
    console.warn("[community-embed] token refused:", failure.code, failure.field || "");
  }
  throw Object.assign(new Error("signed out"), { signedOut: true });
}

const site = { exchange, signOut: async () => post({ type: "signed-out" }) };

/** Without a token, a reader who is signed in by the cookie stays so. */
async function begin() {
  first = await ask();
  if (first) signInBy(site);
}

/** Sign in with the site, when the page says so. */
export function followSite() {
  listen({ token: ({ token }) => give?.(token), "site-signed-in": begin, "site-signed-out": leave });
  post({ type: "accounts" });
}

/** The reader wants to sign in, and the page knows where. */
export function signInThere() {
  if (embedded) post({ type: "sign-in" });
  else if (settings.signInUrl) window.open(settings.signInUrl, "_blank", "noopener");
  return null;
}
