// Numbers, times and states as text.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const MINUS = "\u2212";
export const UNKNOWN = "\u2013";

const known = (value) => typeof value === "number" && Number.isFinite(value);

export function count(value) {
  return known(value) ? whole.format(value) : UNKNOWN;
}

/** A reward, with a readable number of digits. */
export function rate(value) {
  if (!known(value)) return UNKNOWN;
  const size = Math.abs(value);
  let text;
  if (size === 0) text = "0";
  else if (size >= 1e6 || size < 1e-4) text = size.toExponential(1);
  else if (size >= 1000) text = whole.format(size);
  else
    text = size.toFixed(
      size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : size >= 0.001 ? 4 : 5,
    );
  return value < 0 ? MINUS + text : text;
}

export function signed(value) {
  return known(value) && value > 0 ? `+${rate(value)}` : rate(value);
}

/** The labels of an axis of rewards, with the digits that its steps need. */
export function rateTicks(splits) {
  if (splits.length < 2) return splits.map(rate);
  const step = splits[1] - splits[0];
  const digits = Math.min(8, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  const finer = Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 ? 1 : 0;
  return splits.map((value) => value.toFixed(digits + finer).replace("-", MINUS));
}

export function percent(value, digits = 0) {
  if (!known(value)) return UNKNOWN;
  if (value > 0 && value < 0.5 / 10 ** (digits + 2)) return "<1\u00a0%";
  return `${(100 * value).toFixed(digits)}\u00a0%`;
}

export function several(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function span(seconds) {
  if (!known(seconds)) return UNKNOWN;
  for (const [size, unit] of [
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
  ]) {
    if (seconds >= size) {
      const number = Math.round((10 * seconds) / size) / 10;
      return number === 1 ? `1 ${unit}` : `${number} ${unit}s`;
    }
  }
  return seconds === 1 ? "1 second" : `${rate(seconds)} seconds`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (number) => String(number).padStart(2, "0");

export function clock(seconds, withSeconds = true) {
  const date = new Date(1000 * seconds);
  const text = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return withSeconds ? `${text}:${two(date.getSeconds())}` : text;
}

export function day(seconds) {
  const date = new Date(1000 * seconds);
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`;
}

export function moment(seconds) {
  if (!known(seconds)) return UNKNOWN;
  return `${day(seconds)} ${new Date(1000 * seconds).getFullYear()}, ${clock(seconds)}`;
}

/** The labels of a time axis: the clock, and the day where it begins. */
export function timeTicks(splits, step) {
  let last = null;
  return splits.map((seconds) => {
    const today = day(seconds);
    const fresh = last !== null && today !== last;
    last = today;
    if (step >= 86400 || (fresh && step >= 60)) return today;
    return clock(seconds, step < 60);
  });
}

export function between(low, high, level) {
  if (!known(low) || !known(high)) return "No interval yet.";
  return `${percent(level)} interval: ${signed(low)} to ${signed(high)}.`;
}

export function plainly(value) {
  if (value === null || value === undefined) return "none";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "number") return rate(value);
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}

export function errorText(error) {
  if (!error) return "";
  return typeof error === "string" ? error : String(error.message ?? JSON.stringify(error));
}

/** The state of an experiment, as a kind (for colour and shape) and in words. */
export function health(experiment) {
  const openArms = Array.isArray(experiment.arms)
    ? experiment.arms.filter((arm) => arm.open).length
    : experiment.arms;
  if (experiment.last_error && !isMistake(experiment.last_error)) return ["bad", "error"];
  if (openArms === 0) return ["warn", "no open arm"];
  if (!experiment.decisions) return ["idle", "no decisions yet"];
  if (!experiment.observed) return ["warn", "no rewards yet"];
  if (experiment.late > 20 && experiment.late > 0.05 * experiment.rewards) {
    return ["warn", "many late rewards"];
  }
  if (experiment.last_error) return ["warn", "a request was refused"];
  return ["good", "no trouble"];
}

const OURS = ["internal", "unavailable"];

/** Whether an error is a client's mistake and not a failure of the service. */
export function isMistake(error) {
  return Boolean(error?.code) && !OURS.includes(error.code);
}

export function policyName(policy) {
  return policy?.label || policy?.name || "no policy";
}
