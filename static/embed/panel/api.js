/** Calls of the service's API on the panel's own origin. */

import { settings } from "./words.js";

const PATIENCE_MS = 15000;
const IN_PROGRESS_TRIES = 6;

/** What went wrong with a call: the API's code, or `network` or `timeout`; `retryAfter` in seconds where it is known. */
export class Failure extends Error {
  constructor(code, { status = 0, field, max, retryAfter } = {}) {
    super(code);
    Object.assign(this, { code, status, field, max, retryAfter });
  }

  /** Whether the person has to sign in again. */
  get signedOut() {
    return this.status === 401 || this.code === "user_mismatch";
  }
}

export async function call(method, path, { query, body, headers } = {}) {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query || {})) if (value) url.searchParams.set(name, value);
  const answer = await send(url, {
    method,
    credentials: "omit",
    headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }), ...headers },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const record = await answer.json().catch(() => null);
  if (!answer.ok || record === null) throw failureOf(answer, record);
  return { record, headers: answer.headers };
}

async function send(url, request) {
  try {
    return await fetch(url, request);
  } catch (error) {
    throw new Failure(error.name === "TimeoutError" ? "timeout" : "network");
  }
}

function failureOf(answer, record) {
  const { error, field, max } = record || {};
  const retryAfter = Number(answer.headers.get("Retry-After")) || undefined;
  return new Failure(typeof error === "string" ? error : "unreadable", { status: answer.status, field, max, retryAfter });
}

/** A write as a person. One `key` for one intention: a retry with it answers what the first attempt did. */
export async function write(session, method, path, { body, key }) {
  const headers = {
    Authorization: `Bearer ${session.token}`,
    "X-User-Id": session.userId,
    "Idempotency-Key": key,
    "x-service-embed-id": settings.serviceId,
  };
  for (let left = IN_PROGRESS_TRIES; ; left--) {
    try {
      return await call(method, path, { body, headers });
    } catch (failure) {
      if (failure.code !== "idempotency_in_progress" || left === 1) throw failure;
      await new Promise((next) => setTimeout(next, 1000 * (failure.retryAfter || 1)));
    }
  }
}

export const newKey = () => crypto.randomUUID();

export async function pageIdOf(url) {
  const { record } = await call("POST", "/v1/presence/normalize-url", { body: { url } });
  return record.pageId;
}

/** Posts of a page, or replies to `parentId`: { messages, hasMore, nextCursor }. */
export async function listMessages(query) {
  return (await call("GET", "/api/messages", { query })).record;
}

export async function listReactions(messageId) {
  return (await call("GET", `/v1/reactions/${messageId}`, { query: { limit: 20 } })).record;
}
