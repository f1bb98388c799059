import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireFileLock, type FileLock } from '../../../src/host/index.ts';
import { clock } from '../../support/real-wait.ts';

/**
 * Waits until no other test of this machine runs a Go kubelet: its device plugin socket and some folders have fixed
 * places. The turn ends with the process at the latest.
 */
export function goKubeletTurn(): Promise<FileLock> {
  return acquireFileLock(join(tmpdir(), 'tubelet-go-kubelet.lock'), { clock });
}
