/** Where a value of the effective configuration came from. */
export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: string; readonly line: number }
  | { readonly kind: 'dropIn'; readonly path: string; readonly line: number }
  | { readonly kind: 'flag'; readonly name: string };

export const byDefault: Origin = { kind: 'default' };

export function describeOrigin(origin: Origin): string {
  if (origin.kind === 'default') return 'default';
  return origin.kind === 'flag' ? `--${origin.name}` : `${origin.path}:${origin.line}`;
}
