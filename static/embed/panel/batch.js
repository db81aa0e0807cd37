/** Applies changes soon, many at once. While a list is loading they wait: it may be older than they are. */

import { isLoading } from "./api.js";

const BATCH_MS = 50;
const BUSY_MS = 100;

export class Batch {
  constructor(apply) {
    Object.assign(this, { apply, changes: [] });
  }

  clear() {
    this.changes = [];
  }

  take(changes) {
    const isFirst = this.changes.length === 0;
    this.changes.push(...changes);
    if (isFirst && changes.length) setTimeout(() => this.flush(), BATCH_MS);
  }

  flush() {
    if (isLoading() && this.changes.length) return setTimeout(() => this.flush(), BUSY_MS);
    const changes = this.changes.splice(0);
    if (changes.length) this.apply(changes);
  }
}
