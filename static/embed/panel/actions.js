/** The actions in the menu of a post: copy its link, edit, delete, report. */

import { fill, h } from "./dom.js";
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
    !isOwn && ["flag", t("panel.report"), () => openForm("report", post)],
  ].filter(Boolean);
}

/** A browser without access to the clipboard gets the selected address. */
async function copyLink({ message: { url }, panel, tool, menu }) {
  try {
    await navigator.clipboard.writeText(url);
    panel.announce(t("panel.link_copied"));
  } catch {
    const close = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      menu.button.focus({ preventScroll: true });
    };
    const field = h("input", { readonly: true, value: url, "aria-label": t("panel.copy_link"), onkeydown: close, onblur: () => field.remove() });
    fill(tool, field);
    field.select();
  }
}

async function openForm(name, post) {
  try {
    (await later("forms"))[name](post);
  } catch (failure) {
    post.panel.failed(failure, explain(failure));
  }
}
