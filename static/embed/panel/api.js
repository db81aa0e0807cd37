/** Calls the service's API, which has the same origin as the panel. */

import { prepare, textsOf } from "./markdown.js";
import { settings } from "./words.js";

const TIMEOUT_MS = 15000;
const IN_PROGRESS_ATTEMPTS = 6;
// Of responses that are no JSON, by status: they are of a proxy.
const OF_PROXIES = { 401: "signed_out", 429: "rate_limited" };
// Every read of posts has it: the service returns what this embed shows.
const EMBED = { embedId: settings.serviceId };

/** A failed call: `code` of the API, or `network` or `timeout`; `retryAfter` in seconds, if sent. */
class Failure extends Error {
  constructor(code, { status = 0, field, max, retryAfter } = {}) {
    super(code);
    Object.assign(this, { code, status, field, max, retryAfter });
  }

  /** Whether the person has to sign in again. */
  get signedOut() {
    return this.status === 401 || this.code === "user_mismatch";
  }
}

export async function call(method, path, { query, body, headers, credentials = "omit" } = {}) {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query || {})) if (value) url.searchParams.set(name, value);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let response, record;
  try {
    response = await fetch(url, {
      method,
      credentials,
      headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }), ...headers },
      body: body && JSON.stringify(body),
      signal,
    });
    record = await response.json().catch((error) => {
      if (!(error instanceof SyntaxError)) throw error;
    });
  } catch {
    // The body too may break off.
    throw new Failure(signal.aborted ? "timeout" : "network");
  }
  if (!response.ok || !record) throw failureOf(response, record);
  return { record, headers: response.headers };
}

function failureOf(response, record) {
  const { error, field, max } = record || {};
  const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
  const { status } = response;
  const code = typeof error === "string" ? error : OF_PROXIES[status] || "temporarily_unavailable";
  return new Failure(code, { status, field, max, retryAfter });
}

const credentialOf = ({ token, userId }) => ({ Authorization: `Bearer ${token}`, "X-User-Id": userId });

/** Send a write of a person. A retry with the same `key` returns the response of the first attempt. */
export async function write(session, method, path, { body, key }) {
  const headers = {
    ...credentialOf(session),
    "Idempotency-Key": key,
    "x-service-embed-id": settings.serviceId,
  };
  for (let left = IN_PROGRESS_ATTEMPTS; ; left--) {
    try {
      return await call(method, path, { body, headers });
    } catch (failure) {
      if (failure.code !== "idempotency_in_progress" || left === 1) throw failure;
      await new Promise((resolve) => setTimeout(resolve, 1000 * (failure.retryAfter || 1)));
    }
  }
}

/** 128 random bits. Pages of plain http have no `crypto.randomUUID`. */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export async function pageIdOf(url) {
  const { record } = await call("POST", "/v1/presence/normalize-url", { body: { url } });
  return record.pageId;
}

let loading = 0;

/** Whether posts are being loaded. */
export const isLoading = () => loading > 0;

async function load(path, query) {
  loading += 1;
  try {
    return (await call("GET", path, { query: { ...EMBED, ...query } })).record;
  } finally {
    loading -= 1;
  }
}

async function loadList(path, query) {
  const page = await load(path, query);
  await prepare(page.messages.flatMap(textsOf));
  return page;
}

/** List the posts of a page, or the replies to `parentId`: { messages, hasMore, nextCursor }. */
export const listMessages = (query) => loadList("/api/messages", query);

/** Search the posts of a page: as a list. */
export const searchMessages = (query) => loadList("/v1/search", query);

export async function getMessage(id) {
  const message = await load(`/api/messages/${id}`);
  await prepare(textsOf(message));
  return message;
}

/** List the changes of a page after a cursor: { changes, hasMore, nextCursor }. */
export async function listChanges(query) {
  return (await call("GET", "/v1/changes", { query: { ...EMBED, ...query } })).record;
}

export async function listReactions(messageId) {
  return (await call("GET", `/v1/reactions/${messageId}`, { query: { limit: 20 } })).record;
}

/** Read what only this person may see. */
export async function read(session, path, query) {
  return (await call("GET", path, { query, headers: credentialOf(session) })).record;
}

/** List a person's reactions on a page: [{ messageId, reactionId, emoji }]. */
export const listOwnReactions = async (session, pageId) => (await read(session, "/v1/me/reactions", { pageId })).reactions;
