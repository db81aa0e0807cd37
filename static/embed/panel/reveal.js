/** Shows a post of the page in the thread, wherever it is. */

import { getMessage } from "./api.js";
import { pin } from "./listing.js";

// A deeper post is shown without the posts that it answers.
const ANCESTORS_MAX = 30;

/** Load the post and those that it answers, unless they are shown; scroll to it and focus it. Fails as a call does. */
export async function reveal(thread, id) {
  const { run } = thread;
  const missing = [];
  for (let at = id; at && !thread.find(at) && missing.length < ANCESTORS_MAX; at = missing[0].parentId) {
    missing.unshift(await getMessage(at));
  }
  if (run !== thread.run) return;
  for (const message of missing) {
    const parent = message.parentId && thread.find(message.parentId);
    if (parent) parent.replies.show(message);
    else if (!thread.find(message.id)) pin(thread, message);
  }
  const { element } = thread.find(id);
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
  element.classList.remove("fresh");
  requestAnimationFrame(() => element.classList.add("fresh"));
}
