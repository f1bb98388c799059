import { TubeletError } from '../../base/errors.ts';
import type { ClusterTrustBundle, ClusterTrustBundleProjection } from '../../gen/kubernetes/types.ts';
import { selects, selectorText } from '../../model/label-selector.ts';

/** Bounds the memory of a selector, which is kept for as long as the pod lives. */
const maxSelectorBytes = 100 * 1_024;

export interface KnownBundles {
  get(name: string): ClusterTrustBundle | undefined;
  all(): readonly ClusterTrustBundle[];
}

/**
 * The certificates of a projection as one PEM text: each once, in the order of their bytes, so that the text changes only
 * when the certificates do.
 */
export function computeAnchors(projection: ClusterTrustBundleProjection, bundles: KnownBundles): string {
  return normalized(chosen(projection, bundles).map(({ spec }) => spec.trustBundle));
}

/** Whether a bundle that was created, changed or deleted may change the projection's certificates. */
export function concerns(projection: ClusterTrustBundleProjection, bundle: ClusterTrustBundle): boolean {
  return projection.name === undefined
    ? projection.signerName === bundle.spec.signerName
    : projection.name === bundle.metadata?.name;
}

/** Equal for projections with the same certificates. */
export function projectionKey({
  name,
  signerName,
  labelSelector,
  optional = false,
}: ClusterTrustBundleProjection): string {
  return JSON.stringify([name, signerName, labelSelector && selectorText(labelSelector), optional]);
}

function chosen(projection: ClusterTrustBundleProjection, bundles: KnownBundles): readonly ClusterTrustBundle[] {
  const { name, signerName, labelSelector, optional = false } = projection;
  if (name !== undefined) {
    const bundle = bundles.get(name);
    if (bundle !== undefined) return [bundle];
    if (optional) return [];
    const message = `clustertrustbundle.certificates.k8s.io "${name}" not found`;
    throw new TubeletError('notFound', `while getting ClusterTrustBundle: ${message}`);
  }
  if (signerName === undefined) throw new TubeletError('invalid', 'either name or signerName must be specified');
  const length = labelSelector === undefined ? 0 : Buffer.byteLength(selectorText(labelSelector));
  if (length > maxSelectorBytes) {
    throw new TubeletError('invalid', `label selector length (${length}) is larger than ${maxSelectorBytes}`);
  }
  const found = bundles
    .all()
    .filter(({ metadata, spec }) => spec.signerName === signerName && selects(labelSelector, metadata?.labels ?? {}));
  if (found.length === 0 && !optional) {
    throw new TubeletError('notFound', 'combination of signerName and labelSelector matched zero ClusterTrustBundles');
  }
  return found;
}

/** Only certificates: pods must not see anything else in a bundle, private keys above all. */
const certificate = /-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----/g;
const lineLength = 64;

function normalized(texts: readonly string[]): string {
  const each = new Map<string, Buffer>();
  for (const text of texts) {
    for (const [, body = ''] of text.matchAll(certificate)) {
      const base64 = body.replace(/\s/g, '');
      const bytes = Buffer.from(base64, 'base64');
      // Skips what is not base64 that encodes back to the same text.
      if (bytes.length > 0 && bytes.toString('base64') === base64) each.set(base64, bytes);
    }
  }
  const sorted = [...each].sort(([, one], [, other]) => Buffer.compare(one, other));
  return sorted.map(([base64]) => pem(base64)).join('');
}

function pem(base64: string): string {
  const lines = base64.match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
