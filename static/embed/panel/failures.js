/** The texts of failed calls. */

import { has, t } from "./words.js";

export function explain(failure) {
  const { code, max, retryAfter } = failure;
  if (failure.signedOut && !has(`error.${code}`)) return t("error.signed_out");
  if (code === "rate_limited" || code === "agent_rate_limited") return waitText(retryAfter || 60);
  if (max !== undefined && has(`error.${code}`)) return t(`error.${code}`, { n: max });
  return has(`error.${code}`) ? t(`error.${code}`) : t("error.other", { code: code || String(failure) });
}

function waitText(seconds) {
  return seconds < 90 ? t("error.wait_seconds", { n: seconds }) : t("error.wait_minutes", { n: Math.ceil(seconds / 60) });
}
