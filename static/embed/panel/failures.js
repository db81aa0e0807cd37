/** The texts of failed calls. */

import { has, t } from "./words.js";

// Every response of the service is JSON. Another one is of a proxy; with a status of 5xx, it did not reach the service.
const OF_PROXIES = { 413: "payload_too_large", 429: "rate_limited" };
const codeOf = ({ code, status }) => (code !== "unreadable" ? code : OF_PROXIES[status] || (status >= 500 ? "temporarily_unavailable" : "internal_error"));

export function explain(failure) {
  const { max, retryAfter } = failure;
  const code = codeOf(failure);
  if (failure.signedOut && !has(`error.${failure.code}`)) return t("error.signed_out");
  if (code === "rate_limited" || code === "agent_rate_limited") return waitText(retryAfter || 60);
  if (max !== undefined && has(`error.${code}`)) return t(`error.${code}`, { n: max });
  return has(`error.${code}`) ? t(`error.${code}`) : t("error.other", { code: code || String(failure) });
}

function waitText(seconds) {
  return seconds < 90 ? t("error.wait_seconds", { n: seconds }) : t("error.wait_minutes", { n: Math.ceil(seconds / 60) });
}
