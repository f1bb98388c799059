import { loadSettings, type Settings } from '../../src/config/index.ts';

export const nodeName = 'node-1';
export const manifestFolder = '/m';

/** As the program reads its command line: flags behind those that every agent on fakes has. */
export function settingsOf(flags: readonly string[]): Settings {
  const loaded = loadSettings({
    argv: [
      `--pod-manifest-path=${manifestFolder}`,
      `--hostname-override=${nodeName}`,
      '--container-runtime-endpoint=unix:///run/fake.sock',
      '--healthz-port=0',
      '--read-only-port=0',
      ...flags,
    ],
    version: 'v1.34.0+tubelet.test',
    cwd: '/',
    readFile: (path) => {
      throw new Error(`no such file: ${path}`);
    },
    listDir: () => [],
  });
  if (loaded.kind !== 'run') throw new Error(`the settings cannot be read: ${JSON.stringify(loaded)}`);
  return loaded.settings;
}
