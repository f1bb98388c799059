interface BoundedTexts {
  readonly kept: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
}

/**
 * What a runtime is given it sends back with every list, of all pods in one message of at most 16 MiB: what a pod may put
 * there is bounded, so that as many pods as a node runs fit, with those that are ending.
 */
export const maxRuntimeAnnotationBytes = 64 * 1024;
export const maxRuntimeLabelBytes = 16 * 1024;
/** Of each text that a container's own annotations remember of its spec. */
export const maxRememberedBytes = 16 * 1024;

/** As many of the texts as fit; the longest are left out first, for they are hardly meant for a runtime. */
export function boundTexts(texts: Readonly<Record<string, string>>, maxBytes: number): BoundedTexts {
  const entries = Object.entries(texts);
  const sizes = new Map(entries.map(([key, value]) => [key, Buffer.byteLength(key) + Buffer.byteLength(value)]));
  let total = 0;
  for (const size of sizes.values()) total += size;
  if (total <= maxBytes) return { kept: texts, leftOut: [] };
  const leftOut = new Set<string>();
  for (const [key, size] of [...sizes].sort(([a, sizeA], [b, sizeB]) => sizeB - sizeA || (a < b ? -1 : 1))) {
    if (total <= maxBytes) break;
    leftOut.add(key);
    total -= size;
  }
  return { kept: Object.fromEntries(entries.filter(([key]) => !leftOut.has(key))), leftOut: [...leftOut] };
}
