// Polling: every two seconds, not while the tab is hidden, and with growing pauses while the service
// is away.

export const EVERY = 2;
const LONGEST = 30;

export class Poller {
  #poll;
  #hooks;
  #timer = null;
  #running = null;
  #failures = 0;
  #halted = false;

  /** `poll(signal)` polls once; then one of the `hooks` is called: well, failed(error), paused. */
  constructor(poll, hooks) {
    this.#poll = poll;
    this.#hooks = hooks;
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#pause();
      else if (!this.#halted) this.now();
    });
    window.addEventListener("online", () => !document.hidden && !this.#halted && this.now());
  }

  /** Polls at once, and aborts a request under way. */
  async now() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    const own = new AbortController();
    this.#running = own;
    this.#halted = false;
    let wait = EVERY;
    try {
      await this.#poll(own.signal);
      if (own.signal.aborted) return;
      this.#failures = 0;
      this.#hooks.well();
    } catch (error) {
      if (own.signal.aborted) return;
      this.#failures += 1;
      wait = Math.min(LONGEST, EVERY * 2 ** (this.#failures - 1));
      if (error.wait) wait = Math.max(wait, error.wait);
      if (error.status === 401) this.#halted = true; // until there is another key
      this.#hooks.failed(error);
    }
    if (!this.#halted && !document.hidden) this.#timer = setTimeout(() => this.now(), 1000 * wait);
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    if (!this.#halted) this.#hooks.paused();
  }
}
