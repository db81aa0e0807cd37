/** Repeats what failed by itself: after pauses that double, and at once when the browser is online again. */

const FIRST_MS = 3000;
const LONGEST_MS = 60000;

/** Whether a later attempt may succeed: the service was not reached, was away, or told when to come back. */
const mayPass = ({ code, status, retryAfter }) => code === "network" || code === "timeout" || status >= 500 || retryAfter;

export class Retry {
  constructor(work) {
    Object.assign(this, { work, attempts: 0, timer: 0 });
    addEventListener("online", () => this.timer && this.now());
  }

  /** Plan the next attempt after a failure; returns whether there is one. */
  after(failure) {
    if (!mayPass(failure)) return false;
    clearTimeout(this.timer);
    const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.attempts++);
    this.timer = setTimeout(() => this.now(), Math.max(1000 * (failure.retryAfter || 0), pause * (0.5 + Math.random())));
    return true;
  }

  now() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.work();
  }

  stop() {
    clearTimeout(this.timer);
    Object.assign(this, { attempts: 0, timer: 0 });
  }
}
