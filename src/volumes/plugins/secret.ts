import { findSecret } from '../contents/find-object.ts';
import { secretPayload } from '../contents/payload.ts';
import type { VolumeObjects, VolumePlugin } from '../ports.ts';
import type { WrittenVolumes } from '../written-volumes.ts';

const kind = { folder: 'kubernetes.io~secret', on: 'memory' } as const;
const usualMode = 0o644;

/** secret: the values of a Secret as files that never touch the disk. */
export function secret(written: WrittenVolumes, objects: VolumeObjects): VolumePlugin {
  return {
    folder: kind.folder,
    follows: true,
    handles: ({ secret: source }) => source !== undefined,
    async setUp(request) {
      const {
        secretName: name = '',
        items = [],
        defaultMode = usualMode,
        optional = false,
      } = request.volume.secret ?? {};
      const object = findSecret(objects, { namespace: request.pod.namespace, name, optional });
      return written.write(request, kind, secretPayload(object, { items, defaultMode, optional }));
    },
    tearDown: (place) => written.remove(place, kind),
  };
}
