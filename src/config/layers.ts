import { resolve, join } from 'node:path/posix';
import { messageOf } from '../base/errors.ts';
import { decodeFile, withResolvedPaths, type DecodedFile } from './decode-file.ts';
import { withDefaults, withEvictionDefaults, withLegacyDefaults } from './defaults.ts';
import type { Fault } from './fault.ts';
import { withFlags, type KubeletFlags } from './flags/own-flags.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { byDefault } from './origin.ts';
import type { ConfigFiles } from './settings.ts';
import { branch, mergePatch, type Branch } from './sourced-tree.ts';

interface Layers {
  readonly tree: Branch;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

type Sources = Pick<KubeletFlags, 'config' | 'configDir'>;

/**
 * Merges defaults, file, drop-ins and flags:
 *
 *   no --config:  v1beta1 defaults + legacy defaults ─┐
 *   --config:     file + v1beta1 defaults             ├─> drop-ins ─> defaults ─> flags
 *                      + hard eviction defaults ──────┘
 */
export function layOver(sources: Sources, values: ParsedFlags['values'], cwd: string, files: ConfigFiles): Layers {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  const take = ({ tree, ...found }: DecodedFile): Branch => {
    faults.push(...found.faults);
    warnings.push(...found.warnings);
    return tree;
  };
  let tree = withLegacyDefaults(withDefaults(branch(byDefault)));
  if (sources.config !== '') {
    const path = resolve(cwd, sources.config);
    tree = fileLayer(take(readOne(path, 'file', files)), path);
  }
  if (sources.configDir !== '') {
    const directory = resolve(cwd, sources.configDir);
    for (const path of findDropIns(directory, files, faults)) {
      tree = mergePatch(tree, take(readOne(path, 'dropIn', files)));
    }
    tree = withDefaults(tree);
  }
  return { tree: withFlags(tree, values), faults, warnings };
}

/** The tree of a single configuration file, with defaults. */
export function fileLayer(decoded: Branch, path: string): Branch {
  const file = mergePatch(branch(byDefault), decoded);
  return withEvictionDefaults(withDefaults(withResolvedPaths(file, path)));
}

function readOne(path: string, kind: 'file' | 'dropIn', files: ConfigFiles): DecodedFile {
  let text: string;
  try {
    text = files.readFile(path);
  } catch (error) {
    const message = `cannot read ${path}: ${messageOf(error)}`;
    return {
      tree: branch(byDefault),
      faults: [{ field: kind === 'file' ? '--config' : '--config-dir', message }],
      warnings: [],
    };
  }
  return decodeFile(text, path, kind);
}

/** All `*.conf` files below a folder, in the order of a walk by name: a folder's files come at its name's position. */
function findDropIns(directory: string, files: ConfigFiles, faults: Fault[]): readonly string[] {
  try {
    const entries = [...files.listDir(directory)].sort((a, b) => (a.name < b.name ? -1 : 1));
    return entries.flatMap(({ name, isDirectory }) => {
      const path = join(directory, name);
      if (isDirectory) return findDropIns(path, files, faults);
      return name.endsWith('.conf') ? [path] : [];
    });
  } catch (error) {
    faults.push({ field: '--config-dir', message: `cannot read ${directory}: ${messageOf(error)}` });
    return [];
  }
}
