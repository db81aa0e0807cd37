/** The sign-in window: signs in on the app's own origin and hands a user token to the panel that opened it. */

import { call } from "./panel/api.js";
import { explain } from "./panel/failures.js";
import { t } from "./panel/words.js";

const byId = (id) => document.getElementById(id);
const nonce = location.hash.slice(1);
const forms = ["login", "register"].map(byId).filter(Boolean);

/** Exchange the sign-in for a user token; the sign-in itself is ended, since this window needs it no more. */
async function userToken({ accessToken, refreshToken, user }) {
  const headers = { Authorization: `Bearer ${accessToken}` };
  const { record } = await call("POST", "/api/auth/embed-token", { headers });
  await call("POST", "/api/auth/logout", { body: { refreshToken } }).catch(() => null);
  return { token: record.token, userId: record.userId, expiresAt: record.expiresAt, user };
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
    handOver(await userToken(record));
  } catch (failure) {
    const input = form.elements.namedItem(failure.field) || form.elements.password;
    const odd = failure.code === "invalid_input" && failure.field;
    problem.textContent = odd ? t("signin.check", { field: input.labels[0].textContent }) : explain(failure);
    problem.hidden = false;
    input.focus();
  }
  button.disabled = false;
}

/** Only a window of this very origin can read the message; the panel checks the nonce it made. */
function handOver(session) {
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
