import { downwardPayload, type DownwardFacts } from '../contents/downward-payload.ts';
import type { VolumePlugin } from '../ports.ts';
import type { WrittenVolumes } from '../written-volumes.ts';

const kind = { folder: 'kubernetes.io~downward-api', on: 'memory' } as const;
const usualMode = 0o644;

/** downwardAPI: the pod's own fields and resources as files that follow its labels and annotations. */
export function downwardApi(written: WrittenVolumes, facts: DownwardFacts): VolumePlugin {
  return {
    folder: kind.folder,
    follows: true,
    handles: ({ downwardAPI: source }) => source !== undefined,
    async setUp(request) {
      const { items = [], defaultMode = usualMode } = request.volume.downwardAPI ?? {};
      return written.write(request, kind, downwardPayload(request.pod, items, defaultMode, facts));
    },
    tearDown: (place) => written.remove(place, kind),
  };
}
