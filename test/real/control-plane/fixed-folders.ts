import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';

/** The Go kubelet makes them whatever its flags say. Innermost first. */
const fixed = ['/var/lib/kubelet/device-plugins', '/var/lib/kubelet', '/var/log/containers'];

export function absentFolders(): readonly string[] {
  return fixed.filter((path) => !existsSync(path));
}

/** Removes folders that were not there before: whatever is in them came since. */
export async function removeFolders(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true });
}
