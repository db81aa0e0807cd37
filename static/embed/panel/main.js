/** The entry point of the panel: creates its parts and connects them. */

import { setPage } from "./analytics.js";
import { Arrival } from "./arrival.js";
import { Changes } from "./changes.js";
import { Composer } from "./composer.js";
import { fill, h } from "./dom.js";
import { embedded, firstPageUrl, listen, postReady, requestClose } from "./host.js";
import { Live } from "./live.js";
import { OwnReactions, reviewPending } from "./own.js";
import { afterPress } from "./press.js";
import { isWriting } from "./scroll.js";
import { current, onChange, signIn, signOut } from "./session.js";
import { Thread } from "./thread.js";
import { settings, t } from "./words.js";
import { showPending, showWritten } from "./written.js";

const byId = (id) => document.getElementById(id);
const toast = byId("toast");
const scroller = byId("scroll");
const own = new OwnReactions();
const TOAST_MS = 7000;
const CLOCK_MS = 30000;
let isOpen = true;

/** The interface of the panel for the thread, posts and composers. */
const panel = {
  scroller,
  own,
  pageId: () => thread.pageId || "",
  announce: (text) => showToast(text),
  failed: (failure, text) => {
    if (failure.signedOut) signOut();
    showToast(text, "problem");
  },
  signedOut: signOut,
  published: (message) => showWritten(thread, message),
  toTop: () => scroller.scrollTo({ top: 0 }),
  /** A list of posts is shown. */
  shown: () => arrival.attempt(),
  /** Posts were removed. */
  settle: () => thread.settle(),
  showEveryone: () => {
    byId("kind").value = "";
    return thread.setKind("");
  },
  pageChanged: () => {
    composer.restore();
    loadOwn();
    return live.follow(thread.pageId);
  },
  quote: (message) => {
    composer.setQuote(message);
    composer.area.focus();
  },
  /** Return the session; without one, open the sign-in window and wait for it. Call it from a click handler. */
  async signedIn() {
    const session = current() || (await signIn());
    if (session === undefined) showToast(t("panel.popup_blocked"), "problem");
    return session;
  },
};

function showToast(text, kind = "") {
  clearTimeout(showToast.timer);
  fill(toast, h("p", { class: kind }, text));
  showToast.timer = setTimeout(() => afterPress(() => fill(toast)), TOAST_MS);
}

/** Load what only the reader sees: own reactions, and own posts that await review. */
async function loadOwn() {
  const { pageId } = thread;
  try {
    await Promise.all([own.load(pageId), reviewPending(pageId)]);
  } catch (failure) {
    // Without them the thread can be read, and a press sets a reaction.
    if (failure.signedOut) return signOut();
  }
  if (pageId !== thread.pageId) return;
  showPending(thread);
  for (const post of thread.all()) post.reactions.show();
}

const thread = new Thread(panel);
const arrival = new Arrival(thread, panel);
const composer = new Composer({ panel, parent: null, label: t("panel.write"), onSent: (message) => panel.published(message) });
const changes = new Changes(thread, scroller);
const live = new Live({
  apply: (items) => changes.apply(items),
  refresh: () => thread.refresh(),
  listed: () => thread.loaded,
  reload: () => (isWriting(scroller) ? thread.refresh() : thread.reload()),
  changed: (mode) => { thread.element.dataset.live = mode; },
});

function showAccount() {
  const session = current();
  fill(byId("account"), session
    ? [h("span", {}, t("panel.signed_in_as", { name: session.user.name })), h("button", { type: "button", class: "quiet", onclick: signOut }, t("panel.sign_out"))]
    : [h("span", {}, t("panel.join")), h("button", { type: "button", class: "quiet", onclick: panel.signedIn }, t("panel.sign_in"))]);
}

function openPage(url) {
  if (!url || url === thread.url) return;
  setPage(url);
  thread.open(url);
}

const isVisible = () => isOpen && document.visibilityState === "visible";

function setOpen(open) {
  isOpen = open;
  live.setVisible(isVisible());
}

document.documentElement.style.setProperty("--accent", settings.accent);
document.documentElement.style.setProperty("--on-accent", settings.onAccent);
document.documentElement.classList.toggle("embedded", embedded);
scroller.append(thread.element);
byId("write").querySelector("form").replaceWith(composer.element);
byId("kind").onchange = (event) => thread.setKind(event.target.value);
addEventListener("keydown", (event) => event.key === "Escape" && requestClose());
byId("skip").onclick = () => composer.area.focus();
onChange(() => {
  showAccount();
  loadOwn();
});
showAccount();
listen({
  page: (url, id) => {
    openPage(url);
    arrival.go(id);
  },
  open: () => {
    setOpen(true);
    thread.refresh();
  },
  close: () => setOpen(false),
});
document.addEventListener("visibilitychange", () => setOpen(isOpen));
// A page in the back-forward cache holds no connection.
addEventListener("pagehide", () => live.stop());
addEventListener("pageshow", () => setOpen(isOpen));
setInterval(() => {
  if (isVisible()) for (const post of thread.all()) post.tick();
}, CLOCK_MS);
openPage(firstPageUrl);
postReady();
