import { Duration } from '../../base/duration.ts';
import { Masked } from '../../base/masked.ts';
import { parseYamlDocuments, YamlError, type YamlDocument } from '../../base/yaml.ts';
import { registryKey } from '../credentials/registry-match.ts';
import { FieldReader } from './field-reader.ts';
import { readTokenAttributes, type TokenAttributes } from './token-attributes.ts';

/** A credential provider plugin. */
export interface ProviderConfig {
  /** Also the name of its program. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /** How long answers are cached that have no duration of their own. */
  readonly defaultCacheMs: number;
  /** The version of the plugin protocol. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly environment: Masked<Readonly<Record<string, string>>>;
  readonly tokenAttributes?: TokenAttributes;
}

interface ParsedProviders {
  readonly providers: readonly ProviderConfig[];
  /** All that is wrong, each with file, line and field. */
  readonly problems: readonly string[];
}

const group = 'kubelet.config.k8s.io';
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
const pluginApiVersions: readonly string[] = ['v1', 'v1beta1', 'v1alpha1'].map(
  (version) => `credentialprovider.kubelet.k8s.io/${version}`,
);
const providerFields = ['name', 'matchImages', 'defaultCacheDuration', 'apiVersion', 'args', 'env'];

export interface ParseOptions {
  /** Whether plugins may be given tokens of service accounts. */
  readonly serviceAccountTokens: boolean;
}

/** Reads one CredentialProviderConfig. Strict: an unknown field is a problem. */
export function parseProviderConfig(text: string, path: string, options: ParseOptions): ParsedProviders {
  let documents: readonly YamlDocument[];
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { providers: [], problems: [`${path}:${error.line}: not valid YAML: ${error.reason}`] };
  }
  const [document, second] = documents;
  if (document === undefined) return { providers: [], problems: [`${path}:1: the file is empty`] };
  const root = FieldReader.of(path, document);
  if (second !== undefined) root.problem(`one document is expected, another begins at line ${second.lineOf([])}`);
  const version = root.oneOf('apiVersion', versions);
  root.oneOf('kind', ['CredentialProviderConfig']);
  root.onlyKnown(['apiVersion', 'kind', 'providers']);
  const items = root.items('providers');
  if (items.length === 0 && root.isFine('providers')) root.problem('at least one provider is needed', 'providers');
  const mayHaveTokens = version === versions[0];
  const providers = items.map((item) => readProvider(item, mayHaveTokens, options));
  return { providers: root.problems.length > 0 ? [] : providers, problems: root.problems };
}

function readProvider(item: FieldReader, mayHaveTokens: boolean, options: ParseOptions): ProviderConfig {
  item.onlyKnown(mayHaveTokens ? [...providerFields, 'tokenAttributes'] : providerFields);
  const apiVersion = item.oneOf('apiVersion', pluginApiVersions);
  const attributes = item.object('tokenAttributes');
  if (attributes !== undefined) checkTokensAllowed(item, apiVersion, options);
  const tokenAttributes = attributes === undefined ? undefined : readTokenAttributes(attributes);
  return {
    name: readName(item),
    matchImages: readPatterns(item),
    defaultCacheMs: readCacheDuration(item),
    apiVersion,
    args: item.texts('args'),
    environment: new Masked(Object.fromEntries(item.items('env').map(readVariable))),
    ...(tokenAttributes !== undefined && { tokenAttributes }),
  };
}

/** The name is a file in the plugins' folder, and must not lead out of it. */
function readName(item: FieldReader): string {
  const name = item.text('name');
  if (name === '')
    item.missing('name', 'the name of the plugin, which is its file in --image-credential-provider-bin-dir');
  else if (name === '.' || name === '..' || /[/\s\0]/.test(name)) {
    item.problem(`${JSON.stringify(name)} must be the name of a file, without slashes and spaces`, 'name');
  }
  return name;
}

function readPatterns(item: FieldReader): readonly string[] {
  const patterns = item.texts('matchImages');
  if (patterns.length === 0 && item.isFine('matchImages'))
    item.missing('matchImages', 'registries such as *.example.com');
  for (const [index, pattern] of patterns.entries()) {
    // Patterns have no scheme; with one, the scheme would be taken for a host and nothing would ever match.
    if (/^https?:\/\//.test(pattern) || registryKey(pattern) === undefined) {
      item.problem(
        `${JSON.stringify(pattern)} must be a registry such as *.example.com:5000/team`,
        'matchImages',
        index,
      );
    }
  }
  return patterns;
}

function readCacheDuration(item: FieldReader): number {
  const text = item.text('defaultCacheDuration');
  if (text === '') {
    item.missing('defaultCacheDuration', 'how long answers count, such as 10m; 0s for not at all');
    return 0;
  }
  const milliseconds = durationMs(text);
  if (milliseconds === undefined || milliseconds < 0) {
    item.problem(`${JSON.stringify(text)} must be a duration such as 10m, not below 0`, 'defaultCacheDuration');
    return 0;
  }
  return milliseconds;
}

function readVariable(variable: FieldReader): readonly [string, string] {
  variable.onlyKnown(['name', 'value']);
  const name = variable.text('name');
  if (name === '') variable.missing('name', 'the name of a variable');
  else if (/[=\0]/.test(name)) variable.problem(`${JSON.stringify(name)} cannot be the name of a variable`, 'name');
  return [name, variable.text('value')];
}

function checkTokensAllowed(item: FieldReader, apiVersion: string, { serviceAccountTokens }: ParseOptions): void {
  if (!serviceAccountTokens) {
    const gate = 'KubeletServiceAccountTokenForCredentialProviders';
    item.problem(`needs the feature gate ${gate}`, 'tokenAttributes');
  }
  const [newest = ''] = pluginApiVersions;
  if (apiVersion !== newest && item.isFine('apiVersion'))
    item.problem(`needs apiVersion: ${newest}`, 'tokenAttributes');
}

export function durationMs(text: string): number | undefined {
  try {
    return Duration.parse(text).toMillis();
  } catch {
    return undefined;
  }
}
