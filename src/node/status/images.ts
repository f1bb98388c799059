import { withStatus, type NodeImage, type Setter } from './setter.ts';

const maxNames = 5;

/** The largest images: the scheduler prefers nodes that have a pod's images. */
export const setImages: Setter = (node, { settings: { maxImages }, images }) => {
  if (images === undefined) return { node, problem: 'error getting image list' };
  const sorted = images.toSorted(bySize);
  const reported = maxImages > -1 ? sorted.slice(0, maxImages) : sorted;
  return {
    node: withStatus(node, {
      images: reported.map(({ digests, tags, sizeBytes }) => {
        const names = [...digests, ...tags].slice(0, maxNames);
        // The API server writes null for an empty list, so it is left out.
        return { ...(names.length > 0 && { names }), sizeBytes };
      }),
    }),
  };
};

function bySize(a: NodeImage, b: NodeImage): number {
  if (a.sizeBytes !== b.sizeBytes) return b.sizeBytes - a.sizeBytes;
  return a.id > b.id ? -1 : 1;
}
