import { findConfigMap } from '../contents/find-object.ts';
import { configMapPayload } from '../contents/payload.ts';
import type { VolumeObjects, VolumePlugin } from '../ports.ts';
import type { WrittenVolumes } from '../written-volumes.ts';

const kind = { folder: 'kubernetes.io~configmap', on: 'disk' } as const;
const usualMode = 0o644;

/** configMap: the values of a ConfigMap as files. */
export function configMap(written: WrittenVolumes, objects: VolumeObjects): VolumePlugin {
  return {
    folder: kind.folder,
    follows: true,
    handles: ({ configMap: source }) => source !== undefined,
    async setUp(request) {
      const { name = '', items = [], defaultMode = usualMode, optional = false } = request.volume.configMap ?? {};
      // A key of an optional map may be missing as well.
      const object = findConfigMap(objects, { namespace: request.pod.namespace, name, optional });
      return written.write(request, kind, configMapPayload(object, { items, defaultMode, optional }));
    },
    tearDown: (place) => written.remove(place, kind),
  };
}
