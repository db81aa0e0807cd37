/** Sends analytics events of the panel, except with Global Privacy Control and of a preview. */

import { isPreview } from "./host.js";
import { settings } from "./words.js";

let page = null;

/** Set the page of later events, without query and fragment; returns whether it was set before. */
export function setPage(url) {
  const former = page;
  page = url.split(/[?#]/)[0];
  return page === former;
}

export function count(event) {
  if (isPreview || navigator.globalPrivacyControl || !page || !navigator.sendBeacon) return;
  const body = JSON.stringify({ serviceId: settings.serviceId, event, pageUrl: page });
  navigator.sendBeacon("/api/embeds/analytics/events", new Blob([body], { type: "text/plain" }));
}
