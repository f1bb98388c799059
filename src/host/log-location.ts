import { basename, dirname, join } from 'node:path';

/**
 * Where a container's log is, by the path that the runtime gives for it: `<logs>/<pod>/<container>/0.log`. The folder
 * of logs may be named through links of the node. Containers with a volume there can plant links below it, which must
 * not make the agent read the rest of the machine, nor the logs of other containers.
 */
interface LogLocation {
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

/** The other folder where the file may be: the container's own folder of logs. */
function ownFolder({ path, root }: Pick<LogLocation, 'path' | 'root'>): string {
  const container = dirname(path);
  return join(root, basename(dirname(container)), basename(container));
}

/** Why the file must not be read; undefined where it is the container's own. */
export function logLocationProblem(location: LogLocation): string | undefined {
  const { path, real, containerId } = location;
  if (dirname(real) === ownFolder(location)) return undefined;
  if (containerId !== '' && dockerLog.exec(real)?.groups?.['id'] === containerId) return undefined;
  return `${path} leads out of the container's folder of logs`;
}
