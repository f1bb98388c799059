/** One entry of an Accept-like header. */
interface Accepted {
  /** In lower case. */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** 0 refuses, 1 is best. */
  readonly quality: number;
}

/** More than clients send; the rest is not read. */
const maxHeaderLength = 4096;

/** The entries of an Accept or Accept-Encoding header, best first; those of equal worth in their order. */
export function parseAccept(header: string | readonly string[] | undefined): readonly Accepted[] {
  const text = (typeof header === 'string' ? header : (header ?? []).join(',')).slice(0, maxHeaderLength);
  return text
    .split(',')
    .map(parseEntry)
    .filter(({ value }) => value !== '')
    .toSorted((a, b) => b.quality - a.quality);
}

function parseEntry(entry: string): Accepted {
  const [value = '', ...rest] = entry.split(';').map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [name = '', ...words] = part.split('=');
    parameters.set(name.trim().toLowerCase(), words.join('=').trim().replaceAll('"', ''));
  }
  const quality = Number(parameters.get('q') ?? '1');
  parameters.delete('q');
  return { value: value.toLowerCase(), parameters, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  return parseAccept(header).some(({ value, quality }) => value === 'gzip' && quality > 0);
}

/** Whether plain text will do; where nothing is said, everything will. */
export function acceptsPlainText(header: string | undefined): boolean {
  const entries = parseAccept(header);
  const fits = ({ value, parameters, quality }: Accepted): boolean =>
    quality > 0 &&
    ['text/plain', 'text/*', '*/*'].includes(value) &&
    [...parameters].every(([name, word]) => name === 'charset' && word.toLowerCase() === 'utf-8');
  return entries.length === 0 || entries.some(fits);
}
