/**
 * The candidate that a misspelt word most plausibly meant, or undefined when none is near enough to be worth
 * suggesting. Case and separators count for little, because users mistype `MaxPods` and `max_pods` more often than letters.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(word);
  // A third of the letters may differ; beyond that a suggestion is a guess and misleads.
  const limit = Math.min(wanted.length - 1, Math.max(1, Math.floor(wanted.length / 3)));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (candidate === word) return candidate;
    const distance = editDistance(wanted, fold(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function fold(word: string): string {
  return word.toLowerCase().replace(/[-_. ]/g, '');
}

/**
 * Letters to add, drop, change or swap with their neighbour to get from one word to the other; any number not below
 * `cutoff` once it cannot get below it.
 */
function editDistance(from: string, to: string, cutoff: number): number {
  if (Math.abs(from.length - to.length) >= cutoff) return cutoff;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= to.length; column++) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1;
      let distance = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + cost);
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      }
      current.push(distance);
      smallest = Math.min(smallest, distance);
    }
    if (smallest >= cutoff) return cutoff;
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
