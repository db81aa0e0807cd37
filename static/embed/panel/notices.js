/** What the thread has instead of posts. */

import { h } from "./dom.js";
import { explain } from "./failures.js";
import { t } from "./words.js";

export function skeletons() {
  const one = () => h("div", { class: "skeleton", "aria-hidden": true }, h("i"), h("i"), h("i"));
  return [h("p", { class: "hidden-text" }, t("panel.loading")), one(), one(), one()];
}

/** `kind`: the chosen kind of authors, or "". */
export function emptyNotice(kind) {
  return [h("h2", {}, t("panel.empty")), h("p", {}, t(kind ? "panel.none_of_kind" : "panel.empty_text"))];
}

/** `isRetried`: whether the panel tries again by itself. */
export function failureNotice(failure, isRetried, retry) {
  const title = navigator.onLine ? "panel.broken" : "panel.offline";
  return [
    h("div", { role: "alert" }, h("h2", {}, t(title)), h("p", {}, explain(failure)), isRetried && h("p", {}, t("panel.retrying"))),
    h("button", { type: "button", class: "primary", onclick: retry }, t("panel.retry")),
  ];
}
