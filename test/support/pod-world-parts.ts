import { TubeletError } from '../../src/base/errors.ts';
import type { PodHost } from '../../src/pods/create-parts.ts';
import type { VolumesWiring } from '../../src/volumes/volumes-wiring.ts';

/** A disk on which logs never grow. */
export const inertLogFiles: PodHost['logFiles'] = {
  size: async () => 0,
  list: async () => [],
  rename: async () => {},
  renameBack: async () => {},
  remove: async () => {},
  compress: async () => {},
  watch: () => () => {},
  makeFolder: async () => {},
  async *names() {},
  readLink: async () => undefined,
  exists: async () => false,
  link: async () => {},
  removeLink: async () => {},
};

const refused = async (): Promise<never> => Promise.reject(new TubeletError('internal', 'there is no storage driver'));

interface StorageAccess extends Pick<VolumesWiring['machine'], 'files' | 'devices'> {
  readonly drivers: VolumesWiring['drivers'];
  readonly hasSeLinux: boolean;
}

/** A node on which no storage driver registers, and no other agent left anything of one. */
export const noStorage: StorageAccess = {
  drivers: {
    find: (name) => {
      throw new TubeletError('unavailable', `driver name ${name} not found in the list of registered CSI drivers`);
    },
  },
  files: {
    makeFolder: refused,
    writeFile: refused,
    list: async () => [],
    removeTree: refused,
    removeEmpty: refused,
    readText: refused,
    replaceFile: refused,
    removeFile: refused,
  },
  devices: { link: refused, unlink: refused, hold: refused, release: refused, removePlaceholder: refused },
  hasSeLinux: false,
};
