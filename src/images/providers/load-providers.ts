import { createHash } from 'node:crypto';
import { extname, join } from 'node:path/posix';
import { describeError, TubeletError } from '../../base/errors.ts';
import type { ProviderFiles } from '../ports.ts';
import { parseProviderConfig, type ParseOptions, type ProviderConfig } from './provider-config.ts';

export interface ProviderPlaces {
  /** `--image-credential-provider-config`: a file, or a folder of files. */
  readonly config: string;
  /** `--image-credential-provider-bin-dir` */
  readonly binDir: string;
}

export interface LoadedProviders {
  readonly providers: readonly ProviderConfig[];
  /** Of all files, for the metric by which operators compare the nodes' configurations. */
  readonly hash: string;
}

const extensions: readonly string[] = ['.json', '.yaml', '.yml'];

/**
 * Reads the configured plugins once, at the start; undefined where none are configured. Throws `invalid` with all
 * problems: an agent that cannot pull must not start.
 */
export async function loadImageProviders(
  { config, binDir }: ProviderPlaces,
  files: ProviderFiles,
  options: ParseOptions,
): Promise<LoadedProviders | undefined> {
  if (config === '' && binDir === '') return undefined;
  if (config === '') throw invalid(['--image-credential-provider-bin-dir needs --image-credential-provider-config']);
  if (binDir === '') throw invalid(['--image-credential-provider-config needs --image-credential-provider-bin-dir']);
  const problems: string[] = [];
  const providers: ProviderConfig[] = [];
  const hash = createHash('sha256');
  for (const path of await configFiles(config, files)) {
    const text = await readConfig(path, files);
    hash.update(lengthPrefix(text)).update(text);
    const parsed = parseProviderConfig(text, path, options);
    problems.push(...parsed.problems);
    for (const provider of parsed.providers) {
      if (providers.some(({ name }) => name === provider.name)) {
        problems.push(`${path}: provider ${JSON.stringify(provider.name)} is configured twice`);
      } else providers.push(provider);
    }
  }
  if (problems.length === 0) problems.push(...(await missingPrograms(providers, binDir, files)));
  if (problems.length > 0) throw invalid(problems);
  return { providers, hash: `sha256:${hash.digest('hex')}` };
}

async function configFiles(path: string, files: ProviderFiles): Promise<readonly string[]> {
  let names: readonly string[];
  try {
    if (!(await files.isFolder(path))) return [path];
    names = await files.listFiles(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  const found = names.filter((name) => extensions.includes(extname(name))).toSorted();
  if (found.length === 0) throw invalid([`${path}: no files in it that end in ${extensions.join(', ')}`]);
  return found.map((name) => join(path, name));
}

async function readConfig(path: string, files: ProviderFiles): Promise<string> {
  try {
    return await files.readText(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function missingPrograms(
  providers: readonly ProviderConfig[],
  binDir: string,
  files: ProviderFiles,
): Promise<readonly string[]> {
  const checked = await Promise.all(
    providers.map(async ({ name }) => ((await files.isExecutable(join(binDir, name))) ? [] : [join(binDir, name)])),
  );
  return checked.flat().map((path) => `${path}: no program there that could be run as a credential provider`);
}

function lengthPrefix(text: string): Buffer {
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
  return prefix;
}

function unreadable(path: string, error: unknown): TubeletError {
  return new TubeletError('invalid', `cannot read ${path}: ${describeError(error)}`, { cause: error });
}

function invalid(problems: readonly string[]): TubeletError {
  return new TubeletError('invalid', problems.join('\n'));
}
