import { createHash } from 'node:crypto';
import { join } from 'node:path/posix';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { TextFiles } from '../ports.ts';
import { nodeSource } from './credential.ts';
import { parseDockerConfig, type DockerConfigFormat } from './docker-config.ts';
import { emptyKeyring, makeKeyring, type Keyring } from './keyring.ts';

interface NodeConfigFile {
  readonly path: string;
  readonly format: DockerConfigFormat;
}

export interface NodeConfigPlaces {
  /** The agent's own folder. */
  readonly rootDir: string;
  readonly workingDir: string;
  /** Empty when there is none. */
  readonly homeDir: string;
}

/** Where the node's registry credentials may be. Only the first readable file counts. */
export function nodeConfigFiles({ rootDir, workingDir, homeDir }: NodeConfigPlaces): readonly NodeConfigFile[] {
  const homes = homeDir === '' ? [] : [homeDir];
  const dotDocker = [...homes, '/'].map((folder) => join(folder, '.docker'));
  const inFolders = (folders: readonly string[], name: string, format: DockerConfigFormat): NodeConfigFile[] =>
    folders.map((folder) => ({ path: join(folder, name), format }));
  return [
    ...inFolders([rootDir, workingDir, ...dotDocker], 'config.json', 'json'),
    ...inFolders([rootDir, workingDir, ...homes, '/'], '.dockercfg', 'legacy'),
    ...inFolders([rootDir, workingDir, ...homes, '/'], '.dockerconfigjson', 'json'),
  ];
}

interface NodeCredentialsDeps {
  readonly files: TextFiles;
  readonly log: Log;
  readonly candidates: readonly NodeConfigFile[];
}

interface ReadConfig {
  readonly path: string;
  readonly digest: string;
  readonly keyring: Keyring;
}

/** The node's own credentials, valid for every pod. Each pull reads the files, so that a change counts at once. */
export class NodeCredentials {
  readonly #deps: NodeCredentialsDeps;
  #current: ReadConfig | undefined;
  /** The last reported problem of each file, so that it is reported once. */
  readonly #reported = new Map<string, string>();

  constructor(deps: NodeCredentialsDeps) {
    this.#deps = deps;
  }

  async keyring(): Promise<Keyring> {
    for (const { path, format } of this.#deps.candidates) {
      const text = await this.#read(path);
      if (text === undefined) continue;
      const digest = createHash('sha256').update(text).digest('hex');
      if (this.#current?.path === path && this.#current.digest === digest) return this.#current.keyring;
      const config = parseDockerConfig(text, format);
      if ('invalid' in config) {
        this.#report(path, config.invalid);
        continue;
      }
      this.#report(path, config.problems.join('; '));
      const keyring = makeKeyring([{ entries: config.entries, source: nodeSource }]);
      this.#current = { path, digest, keyring };
      this.#deps.log.debug(4, 'Read registry credentials of the node', { path, registries: keyring.size });
      return keyring;
    }
    this.#current = undefined;
    return emptyKeyring;
  }

  async #read(path: string): Promise<string | undefined> {
    try {
      return await this.#deps.files.readText(path);
    } catch (error) {
      this.#report(path, isKind(error, 'notFound') ? '' : messageOf(error));
      return undefined;
    }
  }

  #report(path: string, problem: string): void {
    if ((this.#reported.get(path) ?? '') === problem) return;
    this.#reported.set(path, problem);
    if (problem !== '') this.#deps.log.warn('Registry credentials of the node cannot be read', { path, err: problem });
  }
}
