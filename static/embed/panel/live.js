/** Follows the changes of one page by server-sent events, or by polling while there are none. */

import { listChanges } from "./api.js";
import { Batch } from "./batch.js";
import { settings } from "./words.js";

const TYPES = ["message.created", "message.edited", "message.deleted", "message.hidden", "message.restored", "reaction.added", "reaction.replaced", "reaction.removed", "page.imported"];
const POLL_MS = Math.max(5, settings.pollSeconds) * 1000;
const FIRST_POLL_MS = 1000;
// The time in which the browser has to open the stream, or to open it again.
const OPENS_WITHIN_MS = 8000;
// The first pause between two checks of a stream that brings nothing. It doubles up to the second.
const CHECK_MS = 30000;
const CHECK_MAX_MS = 300000;
const LATE_MS = 3000;
// The time for which the first list of a page waits for the cursor of now.
const CURSOR_WITHIN_MS = 1500;
const ERRORS_MAX = 3;
const BACKOFF_MS = 10000;
const BACKOFF_MAX_MS = 300000;
const HIDDEN_MS = 60000;
const PULLED_AT_ONCE = 100;
const PULLS_MAX = 5;

/** Half to one and a half of a time, so that the panels of many readers do not call at once. */
const around = (ms) => ms * (0.5 + Math.random());

export class Live {
  /**
   * `apply(changes)`; `refresh()` and `reload()` load the list and resolve to whether they did, `listed()` waits for a
   * list that is loading and resolves to whether it is loaded; `changed(mode)` is told how changes arrive: "stream", "poll", "list" (changes are not available, so the list is loaded), or "": not at all.
   */
  constructor({ apply, refresh, reload, listed, changed }) {
    Object.assign(this, { refresh, reload, listed, changed, pageId: null, cursor: null, isVisible: true, run: 0, errors: 0, attempts: 0, retryAt: 0, received: 0 });
    this.batch = new Batch((changes) => apply(changes.filter(({ pageId }) => pageId === this.pageId)));
  }

  /**
   * Follow another page; null: none. Resolves when the list of the page should be loaded: after the cursor of now, so that
   * it has all earlier changes and no second list is needed; without the cursor, if that takes long.
   */
  follow(pageId) {
    this.stop();
    Object.assign(this, { pageId, cursor: null });
    this.batch.clear();
    this.changed("");
    if (!this.isVisible) this.setVisible(false);
    return pageId ? new Promise((resolve) => this.startBefore(resolve)) : Promise.resolve();
  }

  startBefore(list) {
    let isListing = false;
    const begin = () => {
      isListing = true;
      list();
    };
    const timer = setTimeout(begin, CURSOR_WITHIN_MS);
    this.start(() => {
      if (isListing) return this.refresh();
      clearTimeout(timer);
      begin();
      return this.listed();
    });
  }

  /** A hidden panel closes its stream after a while; once it is visible again, it goes on from its cursor. */
  setVisible(isVisible) {
    this.isVisible = isVisible;
    clearTimeout(this.hiding);
    if (!isVisible) this.hiding = setTimeout(() => this.pause(), HIDDEN_MS);
    else if (this.isStopped && this.pageId) this.start();
  }

  pause() {
    this.stop();
    this.changed("");
  }

  stop() {
    this.run += 1;
    this.isStopped = true;
    this.close();
  }

  close() {
    clearTimeout(this.timer);
    if (this.source) this.source.close();
    this.source = null;
  }

  /**
   * Go on from the cursor, by a poll, which bounds the changes. Without a cursor: from now. The list is loaded after
   * that, so that no change is missed; if it fails, the cursor is not used.
   */
  async start(load = this.refresh) {
    this.stop();
    this.isStopped = false;
    const { run } = this;
    const isFirst = !this.cursor;
    if (isFirst) {
      const cursor = await listChanges({ pageId: this.pageId, tail: true }).then(({ nextCursor }) => nextCursor, () => null);
      const isLoaded = run === this.run && (await load());
      if (run !== this.run) return;
      this.cursor = isLoaded ? cursor : null;
    }
    if (isFirst && this.cursor && settings.streamUrl) return this.connect();
    this.later(() => (this.cursor ? this.poll() : this.start()), isFirst ? around(POLL_MS) : 0);
    this.changed(this.cursor ? "poll" : "list");
  }

  later(work, ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, ms);
  }

  connect() {
    this.close();
    const query = new URLSearchParams({ pageId: this.pageId, embedId: settings.serviceId, cursor: this.cursor });
    this.source = new EventSource(`${settings.streamUrl}/v1/changes/stream?${query}`);
    this.source.onopen = () => this.opened();
    this.source.onerror = () => this.failed();
    for (const type of TYPES) this.source.addEventListener(type, (event) => this.receive(event));
    this.source.addEventListener("resync", (event) => this.resync(event));
    this.later(() => this.fallBack(), OPENS_WITHIN_MS);
  }

  opened() {
    this.changed("stream");
    this.checkLater(CHECK_MS);
  }

  checkLater(ms) {
    this.later(() => this.check(ms), around(ms));
  }

  /** A proxy may hold back events, and a lost connection may look open. So look for changes that an open stream did not bring. */
  async check(ms) {
    const { pageId, cursor, source, received } = this;
    const isQuiet = () => source === this.source && source.readyState === EventSource.OPEN && received === this.received;
    const { changes, nextCursor } = await listChanges({ pageId, cursor, limit: 1 }).catch(() => ({ changes: [], nextCursor: cursor }));
    if (!isQuiet()) return;
    if (changes.length) return this.later(() => isQuiet() && this.fallBack(), LATE_MS);
    Object.assign(this, { cursor: nextCursor, errors: 0, attempts: 0 });
    this.checkLater(Math.min(CHECK_MAX_MS, 2 * ms));
  }

  /**
   * The browser opens a lost stream again, with its last event id. After a refusal, or more than ERRORS_MAX losses, the
   * panel polls.
   */
  failed() {
    this.errors += 1;
    if (this.source.readyState === EventSource.CLOSED || this.errors > ERRORS_MAX) this.fallBack();
    else this.later(() => this.fallBack(), OPENS_WITHIN_MS);
  }

  /** Poll for a while, then try the stream again. */
  fallBack() {
    this.close();
    this.retryAt = Date.now() + around(Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** this.attempts));
    this.attempts += 1;
    this.errors = 0;
    this.later(() => this.poll(), around(FIRST_POLL_MS));
    this.changed("poll");
  }

  async poll() {
    const { run } = this;
    const wait = await this.pull().then(() => 0, (failure) => 1000 * (failure.retryAfter || 0));
    if (run !== this.run) return;
    if (settings.streamUrl && Date.now() >= this.retryAt) return this.connect();
    const untilRetry = settings.streamUrl ? this.retryAt - Date.now() : Infinity;
    this.later(() => this.poll(), Math.max(wait, Math.min(around(POLL_MS), untilRetry)));
  }

  /** Get the changes since the cursor. A list replaces many changes, or those after a cursor that is not valid any more. */
  async pull() {
    const { run } = this;
    for (let pulls = 0; pulls < PULLS_MAX && this.cursor; pulls++) {
      const query = { pageId: this.pageId, cursor: this.cursor, limit: PULLED_AT_ONCE };
      const { changes, hasMore, nextCursor } = await listChanges(query).catch(unlessCursorIsRefused);
      if (run !== this.run) return;
      this.cursor = nextCursor;
      this.batch.take(changes);
      if (!hasMore) return;
    }
    this.cursor = null;
    this.start(this.reload);
  }

  receive(event) {
    this.cursor = event.lastEventId;
    Object.assign(this, { errors: 0, attempts: 0 });
    this.received += 1;
    this.checkLater(CHECK_MS);
    this.batch.take([JSON.parse(event.data)]);
  }

  /** The cursor was too old: changes are missing, which the list has. */
  async resync({ lastEventId }) {
    const { run } = this;
    this.cursor = lastEventId;
    this.batch.clear();
    if ((await this.reload()) || run !== this.run) return;
    this.cursor = null;
    this.start();
  }
}

function unlessCursorIsRefused(failure) {
  if (failure.status !== 410 && failure.status !== 400) throw failure;
  return { changes: [], hasMore: true, nextCursor: null };
}
