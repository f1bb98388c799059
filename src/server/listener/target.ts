/** What a request asks for, taken apart. */
export type Target =
  | {
      readonly kind: 'path';
      /** Decoded; never ends in a slash but for the root. */
      readonly path: string;
      /** Decoded, none of them empty but where slashes follow each other; without those at the end. */
      readonly segments: readonly string[];
      /** What stands behind the question mark, as it was sent. */
      readonly search: string;
    }
  | { readonly kind: 'bad'; readonly path: string };

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/is;

/**
 * Takes the target of a request apart. Segments are decoded one by one, so that an escaped slash cannot make two of
 * one; nothing is normalised, so that authorization and handler cannot mean different paths. What is
 * escaped wrongly, or climbs with dots, is bad.
 */
export function parseTarget(target: string): Target {
  const local = localPart(target);
  if (local === undefined) return { kind: 'bad', path: target };
  const question = local.indexOf('?');
  const raw = question < 0 ? local : local.slice(0, question);
  const segments: string[] = [];
  for (const segment of raw.slice(1).split('/')) {
    const decoded = decodeSegment(segment);
    if (decoded === undefined) return { kind: 'bad', path: raw };
    segments.push(decoded);
  }
  while (segments.at(-1) === '') segments.pop();
  return {
    kind: 'path',
    path: `/${segments.join('/')}`,
    segments,
    search: question < 0 ? '' : local.slice(question + 1),
  };
}

/** The part that begins with a slash; a proxy may have written the address in full. */
function localPart(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const [, authority, rest = ''] = absoluteForm.exec(target) ?? [];
  if (authority === undefined || !URL.canParse(`http://${authority}/`)) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function decodeSegment(segment: string): string | undefined {
  const decoded = segment.includes('%') ? unescapeText(segment) : segment;
  if (decoded === undefined || decoded === '.' || decoded === '..') return undefined;
  return /[/\0]/.test(decoded) ? undefined : decoded;
}

function unescapeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
