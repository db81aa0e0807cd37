/** The actions in the menu of a post: copy its link, edit, delete, report, and those of moderators. */

import { explain } from "./failures.js";
import { later } from "./scripts.js";
import { current } from "./session.js";
import { settings, t } from "./words.js";

/** The items of the menu: what the reader may do now. */
export function actionsOf(post) {
  const { message } = post;
  const session = current();
  const isOwn = session !== null && session.userId === message.author.id;
  const isEditable = isOwn && Date.now() < Date.parse(message.createdAt) + settings.editMinutes * 60000;
  return [
    !post.isPending && ["link", t("panel.copy_link"), () => copyLink(post)],
    isEditable && ["edit", t("panel.edit"), () => openForm("edit", post)],
    isOwn && ["trash", t("panel.delete"), () => openForm("remove", post)],
    !isOwn && !post.isPending && ["flag", t("panel.report"), () => openForm("report", post)],
    ...(post.panel.moderation?.actions(post) || []),
  ].filter(Boolean);
}

/** A browser without access to the clipboard gets the address in a field. */
async function copyLink(post) {
  const { message, panel } = post;
  try {
    await navigator.clipboard.writeText(panel.addressOf(message));
    panel.announce(t("panel.link_copied"));
  } catch {
    openForm("link", post);
  }
}

async function openForm(name, post) {
  try {
    (await later("forms"))[name](post);
  } catch (failure) {
    post.panel.failed(failure, explain(failure));
  }
}
