// From the service's time buckets to what is drawn: buckets that are not over are left out, thin
// ones are put together.

const STEPS = [1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 10080];
const APART = 14; // pixels from point to point, at least
const LEAST = 8; // thin buckets are not put together beyond this

/**
 * How many buckets make a point: as few as leave points apart on `pixels`, and `need` in the middle
 * one of each group, as long as 8 points remain. `groups` is a list of [counts, need].
 */
export function step(usable, groups, pixels) {
  const room = Math.max(16, pixels / APART);
  const most = Math.max(1, Math.floor(usable / LEAST));
  for (const size of STEPS) {
    if (usable / size > room) continue;
    const next = STEPS[STEPS.indexOf(size) + 1];
    const enough = groups.every(([counts, need]) => middle(counts.slice(0, usable)) * size >= need);
    if (enough || next === undefined || next > most) return size;
  }
  return STEPS.at(-1);
}

function middle(counts) {
  const some = counts.filter((n) => n > 0).sort((a, b) => a - b);
  return some.length ? some[Math.floor(some.length / 2)] : 0;
}

/** How many of the buckets are over, `settle` seconds ago or more. The last one never is. */
export function usable(series, buckets, now, settle) {
  const settled = Math.floor((now - settle - series.start) / series.width + 1e-6);
  return Math.max(0, Math.min(buckets - 1, settled));
}

/**
 * The points: `{from, to, first, last}` in seconds and in buckets. They lie on a grid that does not
 * move with the first bucket, so a line stays as it is while new points come.
 */
export function points(series, usable, size) {
  const origin = Math.round(series.start / series.width);
  const found = [];
  for (let first = 0; first < usable;) {
    const last = first + size - 1 - ((((origin + first) % size) + size) % size);
    if (last >= usable) break;
    found.push({
      first,
      last,
      from: series.start + first * series.width,
      to: series.start + (last + 1) * series.width,
    });
    first = last + 1;
  }
  return found;
}

export function total(numbers, point) {
  let sum = 0;
  for (let place = point.first; place <= point.last; place += 1) sum += numbers[place] ?? 0;
  return sum;
}

/** The mean reward of each point, and of how many; null where there was none. */
export function means(pairs, found) {
  const counts = pairs.map(([n]) => n);
  const sums = pairs.map(([, sum]) => sum);
  return found.map((point) => {
    const n = total(counts, point);
    return { n, mean: n ? total(sums, point) / n : null };
  });
}

/** The arms that get an area of their own, by their showings; the others share one. */
export function biggest(shares, most) {
  const names = Object.keys(shares);
  if (names.length <= most) return { own: names, rest: [] };
  const sums = new Map(names.map((name) => [name, shares[name].reduce((a, b) => a + b, 0)]));
  const order = [...names].sort((a, b) => sums.get(b) - sums.get(a));
  const own = new Set(order.slice(0, most - 1));
  return {
    own: names.filter((name) => own.has(name)),
    rest: names.filter((name) => !own.has(name)),
  };
}
