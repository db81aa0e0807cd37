/**
 * The sign-in window: signs in on the app's origin and posts the access token to the panel that opened it. The panel is
 * in another partition of the browser's cookies, so it opens its session itself.
 */

import { call } from "./panel/api.js";
import { explain } from "./panel/failures.js";
import { t } from "./panel/words.js";

const byId = (id) => document.getElementById(id);
const nonce = location.hash.slice(1);
const forms = ["login", "register"].map(byId).filter(Boolean);

// A key that was held in the panel may press what has the focus here. The person has to read the window first.
const HASTY_MS = 1000;
// The log of sign-ins tells the widget's from those of other clients.
const GUARD = { "X-Community-Panel": "1" };
const OF_CODE = ["second_factor_required", "invalid_second_factor"];
// Of the account area on this origin, if it has a session there.
const ACCOUNT = "/account/continue/";

/** End the sign-in session, which neither this window nor the panel needs; the access token expires by itself. */
async function withoutRefresh({ accessToken, refreshToken, user }) {
  await call("POST", "/api/auth/logout", { body: { refreshToken } }).catch(() => null);
  return { accessToken, user };
}

/** The sign-in of the account area takes addresses and passkeys, in a tab of its own: it would lose the opener here. */
function openPage(login) {
  const url = new URL(byId("ways").href);
  url.searchParams.set("login", login);
  open(url, "_blank", "noopener");
  lookAgain();
}

/** Offer the person who has signed in there, when this window has the focus again. */
function lookAgain() {
  addEventListener("focus", () => byId("done").hidden && offerSession());
}

async function submit(event) {
  event.preventDefault();
  const form = event.target;
  const problem = form.querySelector("[role=alert]");
  const button = form.querySelector("[type=submit]");
  if (button.disabled) return;
  if (form.id === "login" && /.@/.test(form.elements.handle.value)) return openPage(form.elements.handle.value);
  button.disabled = true;
  problem.hidden = true;
  try {
    const body = Object.fromEntries(new FormData(form));
    // With the cookie by which the sign-in recognises this browser.
    const { record } = await call("POST", `/api/auth/${form.id}`, { body, headers: GUARD, credentials: "same-origin" });
    postSession(await withoutRefresh(record));
  } catch (failure) {
    const isOfCode = OF_CODE.includes(failure.code);
    if (isOfCode) askForCode(true);
    const input = form.elements.namedItem(failure.field) || form.elements[isOfCode ? "code" : "password"];
    const isField = failure.code === "invalid_input" && failure.field;
    problem.textContent = isField ? t("signin.check", { field: input.labels[0].textContent }) : explain(failure);
    problem.hidden = false;
    input.focus();
  }
  button.disabled = false;
}

/** Whether the next submission has a code, since the person has a second factor. */
function askForCode(isAsked) {
  byId("code-field").hidden = !isAsked;
  byId("code").disabled = !isAsked;
}

async function ofAccount(options) {
  const response = await fetch(ACCOUNT, options);
  return response.ok ? response.json() : {};
}

/** Offer the person of the account area; resolves to false if nobody is signed in there. */
async function offerSession() {
  const { user, csrf } = await ofAccount().catch(() => ({}));
  if (!user) return false;
  const [section, button] = [byId("session"), byId("continue")];
  button.textContent = t("signin.continue_as", { name: user.name });
  button.onclick = async () => {
    const session = await ofAccount({ method: "POST", headers: { "X-CSRFToken": csrf } }).catch(() => ({}));
    if (session.accessToken) {
      section.hidden = true;
      postSession(session);
    } else {
      showForms();
    }
  };
  byId("another").onclick = showForms;
  byId("forms").hidden = true;
  section.hidden = false;
  button.disabled = true;
  setTimeout(() => { button.disabled = false; }, HASTY_MS);
  // Not the button, which grants.
  section.querySelector("h1").focus();
  return true;
}

/**
 * Only a window of the same origin can read the message; the panel checks the nonce that it created, and closes this
 * window. If it closed itself, the panel could see that before the message, as if the person had closed it.
 */
function postSession(session) {
  window.opener.postMessage({ type: "signed-in", nonce, ...session }, location.origin);
  byId("forms").hidden = true;
  byId("done").hidden = false;
}

/** On which page the person is about to write, by the browser and not by what that page says; "" outside of a page. */
function siteLine(panel) {
  if (panel.parent === panel) return "";
  try {
    const { host } = new URL(panel.location.ancestorOrigins?.[0] || panel.document.referrer);
    return t("signin.site", { site: host });
  } catch {
    return t("signin.unknown_site");
  }
}

function showForm(id) {
  forms.forEach((form) => { form.hidden = form.id !== id; });
  byId(id).querySelector("input").focus();
}

function showForms() {
  byId("session").hidden = true;
  byId("forms").hidden = false;
  showForm("login");
}

addEventListener("keydown", (event) => { if (event.repeat && event.key === "Enter") event.preventDefault(); }, true);

if (window.opener && nonce) {
  byId("site").textContent = siteLine(window.opener);
  byId("site").hidden = !byId("site").textContent;
  forms.forEach((form) => { form.onsubmit = submit; });
  // Another person may have none.
  byId("handle").oninput = () => askForCode(false);
  document.querySelectorAll("[data-show]").forEach((button) => { button.onclick = () => showForm(button.dataset.show); });
  byId("ways").onclick = lookAgain;
  if (!await offerSession()) showForms();
} else {
  byId("lost").hidden = false;
}
