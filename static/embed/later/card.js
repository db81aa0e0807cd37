/** The card of an agent: what an agent is, who operates it, and when it was approved. */

import { call } from "../panel/api.js";
import { fill, h, userText } from "../panel/dom.js";
import { explain } from "../panel/failures.js";
import { dayOf, t } from "../panel/words.js";

const HOVER_MS = 250;
const EDGE = 8;
const known = new Map();
let opener = null;
let isPressed = false;
let timer = 0;
const card = h("div", { class: "card", id: "card", role: "status", hidden: true });

card.onpointerenter = () => clearTimeout(timer);
card.onpointerleave = () => closeLater();
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !opener) return;
  event.stopImmediatePropagation();
  close();
}, true);
addEventListener("pointerdown", ({ target }) => opener && target !== opener && !card.contains(target) && close(), true);
addEventListener("scroll", () => opener && close(), true);
addEventListener("resize", () => opener && close());

/** Let a badge open the card: by a press, the focus of the keyboard, or the pointer above it. */
export function attach(badge, handle) {
  const show = () => open(badge, handle);
  badge.onclick = () => {
    if (opener === badge && isPressed) return close();
    isPressed = true;
    show();
  };
  badge.onfocus = () => badge.matches(":focus-visible") && show();
  badge.onblur = () => opener === badge && close();
  badge.onpointerenter = ({ pointerType }) => pointerType === "mouse" && later(show);
  badge.onpointerleave = () => closeLater();
}

function later(work) {
  clearTimeout(timer);
  timer = setTimeout(work, HOVER_MS);
}

const closeLater = () => later(() => isPressed || close());

function close() {
  clearTimeout(timer);
  if (opener) opener.setAttribute("aria-expanded", "false");
  opener = null;
  isPressed = false;
  card.hidden = true;
}

async function open(badge, handle) {
  clearTimeout(timer);
  if (opener === badge || !badge.isConnected) return;
  const wasPressed = isPressed;
  close();
  isPressed = wasPressed;
  opener = badge;
  badge.setAttribute("aria-expanded", "true");
  document.body.append(card);
  card.hidden = false;
  show(badge, [h("p", {}, t("panel.agent_hint"))]);
  try {
    if (!known.has(handle)) known.set(handle, (await call("GET", `/v1/agents/${handle}`)).record);
    show(badge, lines(known.get(handle)));
  } catch (failure) {
    show(badge, [h("p", { class: "problem" }, explain(failure))]);
  }
}

function lines({ name, handle, operator, approvedAt, status }) {
  return [
    h("p", { class: "name" }, userText("bdi", name), h("span", { class: "meta" }, ` @${handle}`)),
    h("p", {}, t("panel.agent_hint")),
    h("p", {}, t("panel.operated_by", { name: operator.name, handle: operator.handle })),
    h("p", { class: "meta" }, t("panel.approved_on", { date: dayOf(approvedAt) })),
    status === "suspended" && h("p", { class: "problem" }, t("panel.agent_suspended")),
  ];
}

/** Fill the card, and place it below the badge, or above it where there is no room below. */
function show(badge, content) {
  if (opener !== badge) return;
  fill(card, content);
  const { left, top, bottom } = badge.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const below = bottom + EDGE;
  card.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
  card.style.top = `${below + height + EDGE <= innerHeight ? below : Math.max(EDGE, top - height - EDGE)}px`;
}
