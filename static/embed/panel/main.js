/** The entry point of the panel: creates its parts and connects them. */

import { setPage } from "./analytics.js";
import { pageIdOf } from "./api.js";
import { Arrival } from "./arrival.js";
import { Changes } from "./changes.js";
import { Composer } from "./composer.js";
import { fill, h } from "./dom.js";
import { explain } from "./failures.js";
import { embedded, firstPageUrl, isInline, listen, postReady, requestClose } from "./host.js";
import { growWithThread } from "./inline.js";
import { Live } from "./live.js";
import { OwnReactions, reviewPending } from "./own.js";
import { isDeleted } from "./post.js";
import { afterPress } from "./press.js";
import { later } from "./scripts.js";
import { isWriting } from "./scroll.js";
import { current, fresh, isUnknown, onChange, refused, renewQuietly, signIn, signOut } from "./session.js";
import { applyTheme, firstTheme } from "./theme.js";
import { Thread } from "./thread.js";
import { Tools } from "./tools.js";
import { settings, t } from "./words.js";
import { showPending, showWritten } from "./written.js";

const byId = (id) => document.getElementById(id);
const toast = byId("toast");
const scroller = byId("scroll");
const own = new OwnReactions();
const TOAST_MS = 7000;
const CLOCK_MS = 30000;
let isOpen = true;
// The address that is looked up, and the post that its link names: `{ url, id }`.
let told = null;

/** The interface of the panel for the thread, posts and composers. */
const panel = {
  scroller,
  own,
  /** What a moderator sees and may do: see static/embed/moderation. */
  moderation: null,
  pageId: () => thread.pageId || "",
  announce: (text) => showToast(text),
  failed: (failure, text) => {
    if (failure.signedOut) refused();
    showToast(text, "problem");
  },
  signedOut: refused,
  published: (message) => {
    tools.showThread();
    showWritten(thread, message);
  },
  // Inside a page, the button and the composer that lead there are at the top.
  toTop: () => scroller.scrollTo({ top: 0 }),
  authors: () => [...thread.all()].map(({ message }) => message).filter((message) => !isDeleted(message)).map(({ author }) => author),
  chosen: () => tools.show(),
  counted: () => tools.count(),
  /** A list of posts is shown. */
  shown: () => arrival.attempt(),
  showThread: () => tools.showThread(),
  /** Posts were removed. */
  settle: () => thread.settle(),
  showEveryone: () => thread.choose({ kind: "" }),
  reveal: (id) => arrival.show(id),
  pageChanged: () => {
    tools.reset();
    composer.restore();
    loadOwn();
    return live.follow(thread.pageId);
  },
  /** Where the reader sees a post: on this page. A URL has one fragment, which may select the page. */
  addressOf: ({ id, pageId, url }) => (pageId === thread.pageId && !thread.url.includes("#") ? `${thread.url}#community-post-${id}` : url),
  quote: (message) => {
    composer.setQuote(message);
    composer.area.focus();
  },
  /** Return the session; without one, open the sign-in window and wait for it. Call it from a click handler. */
  async signedIn() {
    try {
      const session = ((current() || isUnknown()) && (await fresh())) || (await (settings.signIn === "own" ? later("accounts").then(({ signInThere }) => signInThere()) : signIn()));
      if (session === undefined) showToast(t("panel.popup_blocked"), "problem");
      return session;
    } catch (failure) {
      showToast(explain(failure), "problem");
      return null;
    }
  },
};

function showToast(text, kind = "") {
  const shown = h("p", { class: kind }, text);
  fill(toast, shown);
  setTimeout(() => afterPress(() => shown.remove()), TOAST_MS);
}

/** Load what only moderators see. Other readers do not load its script. */
async function loadModeration() {
  try {
    if (!panel.moderation && current()?.moderates) {
      const { Moderation } = await later("moderation", settings.moderationUrl);
      panel.moderation ||= new Moderation(panel, thread);
    }
    panel.moderation?.load();
  } catch {
    // The next page loads it.
  }
}

/** Load what only the reader sees: own reactions, and own posts that await review. */
async function loadOwn() {
  const { pageId } = thread;
  loadModeration();
  try {
    await Promise.all([own.load(pageId), reviewPending(pageId)]);
  } catch (failure) {
    // Without them the thread can be read, and a press sets a reaction.
    if (failure.signedOut) return refused();
  }
  if (pageId !== thread.pageId) return;
  showPending(thread);
  for (const post of thread.all()) post.reactions.show();
}

const thread = new Thread(panel);
const tools = new Tools(panel, thread);
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
  const leave = () => signOut().catch((failure) => showToast(explain(failure), "problem"));
  const account = byId("account");
  const hadFocus = account.contains(document.activeElement);
  account.classList.toggle("unknown", isUnknown());
  fill(account, session
    ? [h("span", {}, t("panel.signed_in_as", { name: session.user.name })), h("button", { type: "button", class: "quiet", onclick: leave }, t("panel.sign_out"))]
    : [h("span", {}, t("panel.join")), h("button", { type: "button", class: "quiet", onclick: panel.signedIn }, t("panel.sign_in"))]);
  if (hadFocus) account.querySelector("button").focus();
}

/**
 * Show the page of an address, and the post that a link names. If only the parameters differ, the posts and what the reader
 * writes stay while the page is looked up, and after that if it is the same. If the look-up fails, the thread repeats it
 * and shows the failure: the posts may be of another page.
 */
async function openPage(url, id) {
  if (!url) return;
  if (told?.url === url) {
    told.id = id;
    return;
  }
  const mine = (told = { url, id });
  const mayStay = setPage(url) && thread.pageId && url !== thread.url;
  const pageId = mayStay && (await pageIdOf(url).catch(() => null));
  if (mine !== told) return;
  told = null;
  if (pageId && pageId === thread.pageId) thread.url = url;
  if (url !== thread.url) thread.open(url, pageId);
  arrival.go(mine.id);
}

const isVisible = () => isOpen && document.visibilityState === "visible";

function setOpen(open) {
  isOpen = open;
  live.setVisible(isVisible());
}

const showThemed = () => document.documentElement.classList.remove("themed");
applyTheme(null);
applyTheme(firstTheme()).then(showThemed, showThemed);
document.documentElement.classList.toggle("embedded", embedded);
scroller.append(thread.element);
byId("write").querySelector("form").replaceWith(composer.element);
addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && requestClose());
byId("skip").onclick = () => composer.area.focus();
onChange(() => {
  showAccount();
  loadOwn();
});
showAccount();
renewQuietly();
listen({
  page: ({ url, id }) => openPage(url, id),
  theme: ({ values }) => { applyTheme(values).catch(() => {}); },
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
if (isInline) growWithThread(scroller, () => thread.isLoaded && thread.element.getAttribute("aria-busy") === "false");
postReady();
if (settings.signIn) later("accounts").then(({ followSite }) => followSite(), () => {});
