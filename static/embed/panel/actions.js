/** The actions in the menu of a post: copy its link, edit, delete, report. */

import { getMessage, write } from "./api.js";
import { fill, h } from "./dom.js";
import { PostForm } from "./form.js";
import { addPending, settlePending } from "./own.js";
import { current } from "./session.js";
import { settings, t } from "./words.js";

const NOTE_MAX = 500;

const pathOf = ({ id }) => `/api/messages/${id}`;

/** The items of the menu: what the reader may do now. */
export function actionsOf(post) {
  const { message } = post;
  const session = current();
  const isOwn = session !== null && session.userId === message.author.id;
  const isEditable = isOwn && Date.now() < Date.parse(message.createdAt) + settings.editMinutes * 60000;
  return [
    !post.isPending && ["link", t("panel.copy_link"), () => copyLink(post)],
    isEditable && ["edit", t("panel.edit"), () => edit(post)],
    isOwn && ["trash", t("panel.delete"), () => remove(post)],
    !isOwn && ["flag", t("panel.report"), () => report(post)],
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

function edit(post) {
  const { element, message, panel } = post;
  const area = h("textarea", { dir: "auto", "aria-label": t("panel.edit") });
  area.value = message.content;
  const form = new PostForm(post, {
    fields: area,
    label: t("panel.save"),
    send: (session, key) => write(session, "PUT", pathOf(message), { body: { content: area.value }, key }),
    done: (edited) => {
      const isPending = edited.status === "pending";
      if (isPending) addPending(edited);
      post.update(edited);
      panel.announce(t(isPending ? "panel.pending" : "panel.saved"));
    },
    onClose: () => element.classList.remove("editing"),
  });
  form.show(area);
  element.classList.add("editing");
  // The area has its height only now that the text is not shown beside it.
  form.element.scrollIntoView({ block: "nearest" });
}

function remove(post) {
  const { message, panel } = post;
  const form = new PostForm(post, {
    fields: h("p", {}, h("strong", {}, t("panel.delete_question")), " ", t(message.replyCount ? "panel.delete_answered" : "panel.delete_hint")),
    label: t("panel.delete"),
    kind: "danger",
    send: (session, key) => write(session, "DELETE", pathOf(message), { key }),
    done: async () => {
      panel.announce(t("panel.post_deleted"));
      settlePending(message);
      const tombstone = await getMessage(message.id).catch(() => null);
      if (tombstone) post.update(tombstone);
      else post.withdraw();
      panel.settle();
    },
  });
  form.show(form.button);
}

function report(post) {
  const { message, panel } = post;
  const choices = [
    ["spam", t("panel.reason_spam")],
    ["abuse", t("panel.reason_abuse")],
    ["off_topic", t("panel.reason_off_topic")],
    ["illegal", t("panel.reason_illegal")],
    ["other", t("panel.reason_other")],
  ].map(([value, label]) => h("label", {}, h("input", { type: "radio", name: "reason", value, required: true }), label));
  const note = h("textarea", { rows: 1, dir: "auto", maxlength: NOTE_MAX, "aria-label": t("panel.report_note"), placeholder: t("panel.report_note") });
  const form = new PostForm(post, {
    fields: [h("fieldset", { class: "reasons" }, h("legend", {}, t("panel.report_question")), choices), note],
    label: t("panel.report_send"),
    send: (session, key) => {
      const body = { reason: new FormData(form.element).get("reason"), note: note.value };
      return write(session, "POST", `${pathOf(message)}/report`, { body, key });
    },
    done: () => panel.announce(t("panel.reported")),
  });
  form.show(choices[0].firstChild);
}
