import type { GoldenRecord } from '../../src/testing/golden.ts';
import { diffLists } from './diff.ts';
import type { Replay } from './replay.ts';

/** Modes, owners, kinds and paths of the agent's files and volumes, and what its hosts file says to those that printed it. */
export function compareFiles(record: GoldenRecord, { files, hosts }: Replay): string[] {
  if (record.mirror !== undefined) return [];
  const { missing, extra } = diffLists([...new Set(record.files)].sort(), [...new Set(files)].sort());
  return [
    ...missing.map((file) => `file missing: ${file}`),
    ...extra.map((file) => `file extra: ${file}`),
    ...compareHosts(record, hosts),
  ];
}

function compareHosts({ logs }: GoldenRecord, hosts: string | undefined): string[] {
  return Object.values(logs).flatMap((log) => {
    const printed = /==hosts\n([^]*)==resolv\n/.exec(log)?.[1];
    return printed === undefined || printed === hosts ? [] : [`hosts file: recorded ${printed}, ours ${hosts}`];
  });
}
