import { cutText } from '../../base/cut-text.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { podListFields } from '../../model/pod-log.ts';
import { objectKey } from '../../model/standalone-object.ts';
import type { FileState } from './classify-manifest.ts';
import type { Contents, Finding, Manifest } from './manifest.ts';

/** Findings of one text that are logged at most. */
const maxLines = 20;
const maxFindingBytes = 2_048;

/** Logs what became of a file. Called once for each content, when its state is decided. */
export function reportFile(log: Log, path: string, state: FileState): void {
  if (state.kind === 'unstable') {
    log.debug(3, 'Manifest seems to be half-written, reading it again', { path });
    return;
  }
  reportManifest(log, path, state.manifest, state.kind === 'bad' ? state.kept : undefined);
  if (state.kind === 'good') log.debug(3, 'Read static pod manifest', { path, ...namesOf(state) });
}

/** Logs the findings of a text that came from a path or URL, and what is kept of the last good one because of them. */
export function reportManifest(log: Log, path: string, manifest: Manifest, kept: Contents | undefined): void {
  const { warnings, faults } = manifest;
  for (const finding of warnings.slice(0, maxLines).map(shortened)) {
    log.warn('Static pod manifest has something that is ignored', { path, ...finding });
  }
  for (const finding of faults.slice(0, maxLines).map(shortened)) {
    log.error(new TubeletError('invalid', describe(path, finding)), 'Bad static pod manifest', { path, ...finding });
  }
  if (faults.length > maxLines) {
    log.info('Static pod manifest has more faults than are shown', { path, more: faults.length - maxLines });
  }
  if (kept !== undefined && kept.pods.length > 0) {
    log.warn('Keeping the pods of the last good manifest running', { path, ...namesOf(kept) });
  } else if (kept !== undefined && kept.objects.length > 0) {
    log.warn('Keeping the objects of the last good manifest', { path, ...namesOf(kept) });
  }
}

/** A message may quote a value, and a value may be as long as its file. */
function shortened(finding: Finding): Finding {
  return { ...finding, message: cutText(finding.message, maxFindingBytes) };
}

function namesOf({ pods, objects }: Contents): {
  readonly pods: readonly string[];
  readonly objects?: readonly string[];
} {
  const names = podListFields(pods);
  return objects.length === 0 ? names : { ...names, objects: objects.map(objectKey) };
}

function describe(path: string, { line, message }: Finding): string {
  return line === undefined ? `${path}: ${message}` : `${path}:${line}: ${message}`;
}
