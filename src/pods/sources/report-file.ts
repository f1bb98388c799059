import { TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { FileState } from './judge-file.ts';
import type { Finding } from './read-manifest.ts';

/** A file with more findings than this is better looked at as a whole. */
const maxLines = 20;

/** Tells the operator what became of a file. Called once for each content that the source made up its mind about. */
export function reportFile(log: Log, path: string, state: FileState): void {
  if (state.kind === 'doubted') {
    log.debug(3, 'Manifest looks half-written, reading it again', { path });
    return;
  }
  for (const finding of state.manifest.warnings.slice(0, maxLines)) {
    log.warn('Static pod manifest has something that is ignored', { path, ...finding });
  }
  if (state.kind === 'good') {
    log.debug(3, 'Read static pod manifest', { path, pods: state.pods.map((pod) => pod.fullName) });
    return;
  }
  const { faults } = state.manifest;
  for (const finding of faults.slice(0, maxLines)) {
    log.error(new TubeletError('invalid', describe(path, finding)), 'Bad static pod manifest', { path, ...finding });
  }
  if (faults.length > maxLines) {
    log.info('Static pod manifest has more faults than are shown', { path, more: faults.length - maxLines });
  }
  if (state.kept.length > 0) {
    const pods = state.kept.map((pod) => pod.fullName);
    log.warn('Keeping the pods of the last good manifest running', { path, pods });
  }
}

function describe(path: string, { line, message }: Finding): string {
  return line === undefined ? `${path}: ${message}` : `${path}:${line}: ${message}`;
}
