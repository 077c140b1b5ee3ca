// The points of a chart from the service's time buckets: unfinished buckets are left out, buckets
// with little data are merged.

const STEPS = [1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 10080];
const APART = 14; // pixels from point to point, at least
const LEAST = 8; // points to keep when buckets are merged for lack of data

/**
 * The number of buckets in a point: the smallest that keeps points apart on `pixels` and gives the
 * median point of each group `need` rewards, as long as 8 points remain. `groups` is a list of
 * [counts, need].
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

/** The number of buckets that ended at least `settle` seconds ago. The last one never counts. */
export function usable(series, buckets, now, settle) {
  const settled = Math.floor((now - settle - series.start) / series.width + 1e-6);
  return Math.max(0, Math.min(buckets - 1, settled));
}

/**
 * The points: `{from, to, first, last}` in seconds and in buckets. Their grid does not depend on the
 * first bucket, so that old points stay while new ones are added.
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

/** The mean and the number of rewards of each point; null without any. */
export function means(pairs, found) {
  const counts = pairs.map(([n]) => n);
  const sums = pairs.map(([, sum]) => sum);
  return found.map((point) => {
    const n = total(counts, point);
    return { n, mean: n ? total(sums, point) / n : null };
  });
}

/** The arms with the most showings, which get their own area; the others share one. */
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
