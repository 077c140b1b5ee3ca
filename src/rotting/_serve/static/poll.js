// Asking again and again: every two seconds, not while the tab is hidden, ever more slowly while the
// service is away.

export const EVERY = 2;
const LONGEST = 30;

export class Poller {
  #ask;
  #told;
  #timer = null;
  #running = null;
  #failures = 0;
  #halted = false;

  /** `ask(signal)` asks once; `told.well()`, `told.failed(error)`, `told.paused()` hear of it. */
  constructor(ask, told) {
    this.#ask = ask;
    this.#told = told;
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#pause();
      else if (!this.#halted) this.now();
    });
    window.addEventListener("online", () => !document.hidden && !this.#halted && this.now());
  }

  /** Asks at once, in place of whatever was under way. */
  async now() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    const own = new AbortController();
    this.#running = own;
    this.#halted = false;
    let wait = EVERY;
    try {
      await this.#ask(own.signal);
      if (own.signal.aborted) return;
      this.#failures = 0;
      this.#told.well();
    } catch (error) {
      if (own.signal.aborted) return;
      this.#failures += 1;
      wait = Math.min(LONGEST, EVERY * 2 ** (this.#failures - 1));
      if (error.wait) wait = Math.max(wait, error.wait);
      if (error.status === 401) this.#halted = true; // only another key can help
      this.#told.failed(error);
    }
    if (!this.#halted && !document.hidden) this.#timer = setTimeout(() => this.now(), 1000 * wait);
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    if (!this.#halted) this.#told.paused();
  }
}
