/** The forms in a post that its menu opens: edit, delete, report. */

import { getMessage, write } from "../panel/api.js";
import { fill, h } from "../panel/dom.js";
import { load, store } from "../panel/memory.js";
import { addPending, settlePending } from "../panel/own.js";
import { t } from "../panel/words.js";
import { PostForm } from "./form.js";

const NOTE_MAX = 500;

const pathOf = ({ id }) => `/api/messages/${id}`;
const draftOf = ({ id }) => `edit ${id}`;

/** The service does not find a post that was rejected or deleted meanwhile: there is nothing left to delete. */
function ignoreMissing(failure) {
  if (failure.code !== "message_not_found") throw failure;
  return {};
}

export function edit(post) {
  const { element, message, panel } = post;
  const area = h("textarea", { dir: "auto", "aria-label": t("panel.edit") });
  // Another order or filter of the thread removes the form. The draft is of this text: after another edit it is void.
  const draft = load(draftOf(message));
  area.value = draft?.of === message.content ? draft.text : message.content;
  area.oninput = () => store(draftOf(message), { of: message.content, text: area.value });
  const dropDraft = () => store(draftOf(message), null);
  const form = new PostForm(post, {
    fields: area,
    label: t("panel.save"),
    send: (session, key) => write(session, "PUT", pathOf(message), { body: { content: area.value }, key }),
    done: (edited) => {
      dropDraft();
      const isPending = edited.status === "pending";
      if (isPending) addPending(edited);
      post.update(edited);
      panel.announce(t(isPending ? "panel.pending" : "panel.saved"));
    },
    onClose: () => element.classList.remove("editing"),
    onCancel: dropDraft,
  });
  form.show(area);
  element.classList.add("editing");
  // The area has its height only now that the text is not shown beside it.
  form.element.scrollIntoView({ block: "nearest" });
}

export function remove(post) {
  const { message, panel } = post;
  const form = new PostForm(post, {
    fields: h("p", {}, h("strong", {}, t("panel.delete_question")), " ", t(message.replyCount ? "panel.delete_answered" : "panel.delete_hint")),
    label: t("panel.delete"),
    kind: "danger",
    send: (session, key) => write(session, "DELETE", pathOf(message), { key }).catch(ignoreMissing),
    done: async () => {
      panel.announce(t("panel.post_deleted"));
      settlePending(message);
      store(draftOf(message), null);
      const tombstone = await getMessage(message.id).catch(() => null);
      if (tombstone) post.update(tombstone);
      else post.withdraw();
      panel.settle();
    },
  });
  form.show(form.button);
}

export function report(post) {
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

/** The selected address of a post, for a browser without access to the clipboard. */
export function link({ message, panel, form, tool, menu }) {
  form?.close();
  const close = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    menu.button.focus({ preventScroll: true });
  };
  const field = h("input", { readonly: true, value: panel.addressOf(message), "aria-label": t("panel.copy_link"), onkeydown: close, onblur: () => field.remove() });
  fill(tool, field);
  field.select();
}
