/** The badges of moderators and agents. The card of an agent is loaded when a badge is first used. */

import { h } from "./dom.js";
import { later } from "./scripts.js";
import { t } from "./words.js";

const FIRST_USES = ["pointerenter", "focus", "click"];

export function agentBadge(handle) {
  const badge = h("button", { type: "button", class: "badge", "aria-expanded": "false" }, t("panel.agent"));
  let use = null;
  const load = async (event) => {
    const isLoading = use !== null;
    use = event;
    if (isLoading) return;
    try {
      (await later("card")).attach(badge, handle);
      badge[`on${use.type}`](use);
    } catch {
      use = null; // The next use loads it again.
    }
  };
  for (const type of FIRST_USES) badge[`on${type}`] = load;
  return badge;
}

export function moderatorBadge({ authorRole }) {
  return authorRole === "moderator" && h("span", { class: "badge" }, t("panel.moderator"));
}
