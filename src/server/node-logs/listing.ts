import type { LogEntry } from '../../model/file-facts.ts';

const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

/**
 * The names in a folder as a page of links. The links are whole paths: the page is the same with and without a slash at
 * the end of its address, and no client is redirected for it.
 */
export function listingPage(path: readonly string[], entries: readonly LogEntry[], more: boolean): string {
  const above = ['/logs', ...path.map(encodeName)].join('/');
  const lines = entries
    .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    .map(({ name, isFolder }) => {
      const slash = isFolder ? '/' : '';
      return `<a href="${above}/${encodeName(name)}${slash}">${escapeHtml(name)}${slash}</a>\n`;
    });
  const rest = more ? '... and more\n' : '';
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}${rest}</pre>\n`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => named[character] ?? character);
}

/** One name of a path in an address. What is no proper text cannot be asked for anyway. */
function encodeName(name: string): string {
  return encodeURIComponent(Buffer.from(name).toString('utf8')).replaceAll("'", '%27');
}
