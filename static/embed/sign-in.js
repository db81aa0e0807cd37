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

/** End the sign-in session, which neither this window nor the panel needs; the access token expires by itself. */
async function withoutRefresh({ accessToken, refreshToken, user }) {
  await call("POST", "/api/auth/logout", { body: { refreshToken } }).catch(() => null);
  return { accessToken, user };
}

async function submit(event) {
  event.preventDefault();
  const form = event.target;
  const problem = form.querySelector("[role=alert]");
  const button = form.querySelector("[type=submit]");
  if (button.disabled) return;
  button.disabled = true;
  problem.hidden = true;
  try {
    const body = Object.fromEntries(new FormData(form));
    const { record } = await call("POST", `/api/auth/${form.id}`, { body });
    postSession(await withoutRefresh(record));
  } catch (failure) {
    const input = form.elements.namedItem(failure.field) || form.elements.password;
    const isField = failure.code === "invalid_input" && failure.field;
    problem.textContent = isField ? t("signin.check", { field: input.labels[0].textContent }) : explain(failure);
    problem.hidden = false;
    input.focus();
  }
  button.disabled = false;
}

/** Only a window of the same origin can read the message; the panel checks the nonce that it created. */
function postSession(session) {
  window.opener.postMessage({ type: "signed-in", nonce, ...session }, location.origin);
  byId("forms").hidden = true;
  byId("done").hidden = false;
  window.close();
}

function showForm(id) {
  forms.forEach((form) => { form.hidden = form.id !== id; });
  byId(id).querySelector("input").focus();
}

if (window.opener && nonce) {
  byId("forms").hidden = false;
  forms.forEach((form) => { form.onsubmit = submit; });
  document.querySelectorAll("[data-show]").forEach((button) => { button.onclick = () => showForm(button.dataset.show); });
  showForm("login");
} else {
  byId("lost").hidden = false;
}
