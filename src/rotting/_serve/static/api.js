// Asking the service: JSON, a key where there is one, and errors by kind.

const STORED = "rotting-key";
const PATIENCE = 10_000; // milliseconds before an answer is given up

/** The service answered, but with an error. */
export class Refused extends Error {
  constructor(status, code, message, wait) {
    super(message);
    this.status = status;
    this.code = code;
    this.wait = wait; // seconds, where it asked for patience
  }
}

/** The service did not answer. */
export class Away extends Error {}

// Storage may be forbidden by the browser; the key then lives as long as the page.
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
      // kept in memory alone
    }
  },
  forget() {
    held = null;
    try {
      sessionStorage.removeItem(STORED);
    } catch {
      // there was nothing to remove
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
  const limits = [AbortSignal.timeout(PATIENCE), ...(signal ? [signal] : [])];
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
  // A proxy in front may answer for a service that is down.
  if ([401, 403, 404].includes(response.status)) throw new Refused(response.status, "", "", null);
  throw new Away(`status ${response.status}, not in the service's words`);
}
