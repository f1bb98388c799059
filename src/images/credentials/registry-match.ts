/**
 * Which images an entry of a docker configuration or of a credential provider is meant for. An entry names a host, perhaps
 * with wildcards in its parts, perhaps a port, perhaps the beginning of a path:
 *
 *   *.example.com        any one name below example.com
 *   example.com:5000     that port and no other
 *   example.com/team     that host, and paths that begin like this
 */
export function matchesImage(pattern: string, repository: string): boolean {
  const wanted = splitLocation(pattern);
  const given = splitLocation(repository);
  if (wanted.port !== given.port || !given.path.startsWith(wanted.path)) return false;
  if (isAddress.test(wanted.host)) return wanted.host === given.host;
  const parts = wanted.host.split('.');
  const names = given.host.split('.');
  return parts.length === names.length && parts.every((part, index) => matchesName(part, names[index] ?? ''));
}

/**
 * The key of an entry: host and path. Drops scheme and user, and the API versions that docker writes behind the hosts of
 * registries. Undefined for what is no location.
 */
export function registryKey(location: string): string | undefined {
  const bare = location.replace(/^https?:\/\//, '').replace(/^[^/@]*@/, '');
  // No location has white space or control characters.
  if (bare === '' || bare.startsWith('/') || /[\s\p{Cc}]/u.test(bare)) return undefined;
  const { host, port, path } = splitLocation(bare.replace(/[?#].*$/s, ''));
  const place = port === '' ? host : `${host}:${port}`;
  const below = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return below === '/' ? place : place + below;
}

/** Whether an image comes from the default registry, by whatever name that goes. */
export function isDefaultRegistry(repository: string): boolean {
  const [first = '', ...rest] = repository.split('/');
  if (first === '') return false;
  return rest.length === 0 || first === 'docker.io' || first === 'index.docker.io' || !/[.:]/.test(first);
}

/** Brackets around colons are an IPv6 address; all others are a class of letters. */
const isAddress = /^\[[^\]]*:[^\]]*\]$/;

interface ImageLocation {
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

function splitLocation(location: string): ImageLocation {
  const slash = location.indexOf('/');
  const place = slash < 0 ? location : location.slice(0, slash);
  const path = slash < 0 ? '' : location.slice(slash);
  const match = /^(\[[^\]]*\]|[^:]*):([^:]*)$/.exec(place);
  return match === null ? { host: place, port: '', path } : { host: match[1] ?? '', port: match[2] ?? '', path };
}

type PatternStep = 'any' | ((character: string) => boolean);

/** One part of a host against its pattern, in time proportional to both: any tenant's secret may have patterns. */
function matchesName(pattern: string, name: string): boolean {
  const steps = stepsOf(pattern);
  if (steps === undefined) return false;
  const characters = Array.from(name);
  let step = 0;
  let at = 0;
  let retry: { readonly step: number; at: number } | undefined;
  while (at < characters.length) {
    const current = steps[step];
    if (current === 'any') {
      retry = { step: step + 1, at };
      step++;
    } else if (current?.(characters[at] ?? '') === true) {
      step++;
      at++;
    } else {
      if (retry === undefined) return false;
      // The last wildcard takes one more character; earlier ones need no retry.
      retry.at++;
      step = retry.step;
      at = retry.at;
    }
  }
  return steps.slice(step).every((rest) => rest === 'any');
}

/** `*`, `?`, `[a-z]`, `[^a]` and `\x`; undefined for a pattern that does not end well, which matches nothing. */
function stepsOf(pattern: string): readonly PatternStep[] | undefined {
  const steps: PatternStep[] = [];
  const rest = Array.from(pattern);
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const letter = next === '\\' ? rest.shift() : next;
    if (letter === undefined) return undefined;
    if (next === '*') steps.push('any');
    else if (next === '?') steps.push(() => true);
    else if (next === '[') {
      const accepts = classOf(rest);
      if (accepts === undefined) return undefined;
      steps.push(accepts);
    } else steps.push((character) => character === letter);
  }
  return steps;
}

/** Consumes a class at the front of the rest of a pattern. */
function classOf(rest: string[]): ((character: string) => boolean) | undefined {
  const negated = rest[0] === '^';
  if (negated) rest.shift();
  const ranges: (readonly [string, string])[] = [];
  const letter = (): string | undefined => {
    const next = rest.shift();
    return next === '\\' ? rest.shift() : next;
  };
  for (;;) {
    if (rest[0] === ']' && ranges.length > 0) break;
    const low = letter();
    if (low === undefined) return undefined;
    if (rest[0] !== '-') {
      ranges.push([low, low]);
      continue;
    }
    rest.shift();
    const high = letter();
    if (high === undefined) return undefined;
    ranges.push([low, high]);
  }
  rest.shift();
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== negated;
}
