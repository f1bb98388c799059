import { withStatus, type NodeImage, type Setter } from './setter.ts';

const maxNames = 5;

/** The largest images: where they are already, a pod starts sooner. */
export const setImages: Setter = (node, { settings: { maxImages }, images }) => {
  if (images === undefined) return { node, problem: 'error getting image list' };
  const sorted = images.toSorted(bySize);
  const told = maxImages > -1 ? sorted.slice(0, maxImages) : sorted;
  return {
    node: withStatus(node, {
      images: told.map(({ digests, tags, sizeBytes }) => {
        const names = [...digests, ...tags].slice(0, maxNames);
        // The API server writes null where there are none, which is what it makes of nothing.
        return { ...(names.length > 0 && { names }), sizeBytes };
      }),
    }),
  };
};

function bySize(a: NodeImage, b: NodeImage): number {
  if (a.sizeBytes !== b.sizeBytes) return b.sizeBytes - a.sizeBytes;
  return a.id > b.id ? -1 : 1;
}
