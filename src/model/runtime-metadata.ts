interface BoundedTexts {
  readonly kept: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
}

/**
 * A runtime returns labels and annotations with every list, of all pods in one message of at most 16 MiB: those of a pod
 * are bounded, so that the message fits for as many pods as a node runs, with those that are ending.
 */
export const maxRuntimeAnnotationBytes = 64 * 1024;
export const maxRuntimeLabelBytes = 16 * 1024;
/** Of each text of the spec that is recorded in a container's annotations. */
export const maxRememberedBytes = 16 * 1024;

/** As many of the texts as fit; the longest are left out first, because they are hardly meant for a runtime. */
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
