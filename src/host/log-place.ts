import { basename, dirname, join } from 'node:path';

/**
 * Where a container's log is, by the path that the runtime gives for it: `<logs>/<pod>/<container>/0.log`. The folder of
 * logs may be named through links of the node. Containers with a volume there can plant links below it, which must not
 * make us read the rest of the machine, nor the logs of others.
 */
interface LogPlace {
  readonly path: string;
  /** The folder of logs without links in its path. */
  readonly root: string;
  /** What is at the path, links followed. */
  readonly real: string;
  readonly containerId: string;
}

/** Docker keeps the file elsewhere, under the id of the container, and has a link at the log path. */
const dockerLog = /\/containers\/(?<id>[0-9a-f]{64})\/\k<id>-json\.log$/;

export const logRoot = (path: string): string => dirname(dirname(dirname(path)));

/** Where the file may be besides: in the container's own folder of logs. */
function ownFolder({ path, root }: Pick<LogPlace, 'path' | 'root'>): string {
  const container = dirname(path);
  return join(root, basename(dirname(container)), basename(container));
}

/** Why the file is not to be read; nothing where it is the container's own. */
export function logPlaceProblem(place: LogPlace): string | undefined {
  const { path, real, containerId } = place;
  if (dirname(real) === ownFolder(place)) return undefined;
  if (containerId !== '' && dockerLog.exec(real)?.groups?.['id'] === containerId) return undefined;
  return `${path} leads out of the container's folder of logs`;
}
