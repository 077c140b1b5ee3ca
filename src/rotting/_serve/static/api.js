// Requests to the service: JSON, with the API key if there is one, and errors by kind.

const STORED = "rotting-key";
const TIMEOUT = 10_000; // milliseconds

/** The service answered, but with an error. */
export class Refused extends Error {
  constructor(status, code, message, wait) {
    super(message);
    this.status = status;
    this.code = code;
    this.wait = wait; // seconds of Retry-After, or null
  }
}

/** The service did not answer. */
export class Away extends Error {}

// The browser may forbid storage. The key is then kept as long as the page is open.
let held = null;

export const key = {
  get() {
    try {
      return sessionStorage.getItem(STORED) ?? held;
    } catch {
      return held;
    }
  },
  set(value) {
    held = value;
    try {
      sessionStorage.setItem(STORED, value);
    } catch {
      // kept in memory only
    }
  },
  forget() {
    held = null;
    try {
      sessionStorage.removeItem(STORED);
    } catch {
      // nothing was stored
    }
  },
};

export function experimentPath(name) {
  return `v1/experiments/${encodeURIComponent(name)}`;
}

export async function get(path, signal) {
  const headers = { Accept: "application/json" };
  const secret = key.get();
  if (secret) headers.Authorization = `Bearer ${secret}`;
  const limits = [AbortSignal.timeout(TIMEOUT), ...(signal ? [signal] : [])];
  let response;
  let body;
  try {
    response = await fetch(path, {
      headers,
      signal: AbortSignal.any(limits),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    body = await response.json().catch(() => null);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Away(error.message);
  }
  if (response.ok && body !== null) return body;
  if (body?.error) {
    const wait = Number.parseFloat(response.headers.get("Retry-After"));
    const { code, message } = body.error;
    throw new Refused(response.status, code, String(message), Number.isFinite(wait) ? wait : null);
  }
  // Not the service's own error: perhaps a proxy's, for a service that is down.
  if ([401, 403, 404].includes(response.status)) throw new Refused(response.status, "", "", null);
  throw new Away(`status ${response.status}, not from the service`);
}
