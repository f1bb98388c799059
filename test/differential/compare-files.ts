import type { GoldenRecord } from '../../src/testing/golden.ts';
import { diffLists } from './diff.ts';
import type { Replay } from './replay.ts';

/** Modes and paths of the agent's own files, and what its hosts file says to those that printed it. */
export function compareFiles(record: GoldenRecord, { files, hosts }: Replay): string[] {
  if (record.mirror !== undefined) return [];
  const { missing, extra } = diffLists(ownFiles(record), [...new Set(files)].sort());
  return [
    ...missing.map((file) => `file missing: ${file}`),
    ...extra.map((file) => `file extra: ${file}`),
    ...compareHosts(record, hosts),
  ];
}

const foreign = [
  /^volumes\/kubernetes\.io~(projected|configmap|secret)/,
  /^plugins\/kubernetes\.io~empty-dir\/wrapped_/,
];

/** Without volumes that the agent does not mount itself, and without owners: the disk in memory has none. */
function ownFiles({ files, manifest }: GoldenRecord): string[] {
  const hasEmptyDir = (manifest.spec?.volumes ?? []).some(({ emptyDir }) => emptyDir !== undefined);
  const own = files
    .map((line) => {
      const [mode = '', , , path = ''] = line.split(' ');
      return { mode, path };
    })
    .filter(({ path }) => !foreign.some((pattern) => pattern.test(path)))
    .filter(({ path }) => hasEmptyDir || path !== 'plugins/kubernetes.io~empty-dir')
    .map(({ mode, path }) => `${mode} ${path}`);
  return [...new Set(own)].sort();
}

function compareHosts({ logs }: GoldenRecord, hosts: string | undefined): string[] {
  return Object.values(logs).flatMap((log) => {
    const printed = /==hosts\n([^]*)==resolv\n/.exec(log)?.[1];
    return printed === undefined || printed === hosts ? [] : [`hosts file: recorded ${printed}, ours ${hosts}`];
  });
}
