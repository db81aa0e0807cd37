/** Says that a discussion is closed before a text is written in vain. Sending it says so too. */

import { call } from "../panel/api.js";
import { settings, t } from "../panel/words.js";

/** Ask for each page on which the form gets the focus, beginning with this one. */
export function tellIfClosed(composer) {
  const { area, panel, parent, problem } = composer;
  const communityId = parent ? parent.communityId : settings.communityId;
  let asked = null;

  async function ask() {
    const pageId = panel.pageId();
    if (!communityId || asked === pageId) return;
    asked = pageId;
    try {
      const { record } = await call("GET", `/v1/communities/${communityId}/pages/${pageId}`);
      // Meanwhile a press of the button may have said it.
      if (record.closed && pageId === panel.pageId() && !composer.busy && problem.hidden) composer.showProblem(t("error.discussion_closed"));
    } catch {
      asked = null;
    }
  }

  area.addEventListener("focus", ask);
  ask();
}
