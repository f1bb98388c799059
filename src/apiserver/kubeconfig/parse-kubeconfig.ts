import { dirname, resolve } from 'node:path';
import { TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import { parseYamlDocuments } from '../../base/yaml.ts';
import type { ApiServerAccess, KeySource, PemSource, UserAccess } from './access.ts';
import { readExec } from './read-exec.ts';
import { Section } from './section.ts';

interface KubeconfigOptions {
  /** The file of the text; relative paths in it start from its folder. */
  readonly file: string;
  /** Instead of `current-context`. */
  readonly context?: string;
}

const execExtension = 'client.authentication.k8s.io/exec';

/** Parses one context of a kubeconfig. Throws `invalid` with every fault, each with its line. */
export function parseKubeconfig(text: string, { file, context }: KubeconfigOptions): ApiServerAccess {
  const document = parseYamlDocuments(text)[0];
  if (document === undefined) throw new TubeletError('invalid', `${file}: the kubeconfig is empty`);
  const problems: string[] = [];
  const root = new Section(document.value, [], (path, what) => {
    const dotted = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    problems.push(`${file}:${document.lineOf(path)}: ${dotted === '' ? '' : `${dotted.slice(1)}: `}${what}`);
  });
  const access = readContext(root, context, dirname(resolve(file)));
  if (access === undefined || problems.length > 0) throw new TubeletError('invalid', problems.join('\n'));
  return access;
}

function readContext(root: Section, wanted: string | undefined, folder: string): ApiServerAccess | undefined {
  const name = wanted ?? root.text('current-context');
  if (name === undefined) {
    const names = root.names('contexts');
    root.problem(
      `missing; set it to ${names.length === 0 ? 'the name of a context' : names.join(' or ')}`,
      'current-context',
    );
    return undefined;
  }
  const context = find(root, 'contexts', name, 'context');
  if (context === undefined) return undefined;
  const clusterName = context.text('cluster');
  if (clusterName === undefined) context.problem('missing; it is the name of an entry of clusters', 'cluster');
  const cluster = clusterName === undefined ? undefined : find(root, 'clusters', clusterName, 'cluster');
  const userName = context.text('user');
  const user = userName === undefined ? undefined : find(root, 'users', userName, 'user');
  const server = cluster === undefined ? undefined : readServer(cluster);
  if (cluster === undefined || server === undefined) return undefined;
  return {
    server,
    ...readCluster(cluster, folder),
    user: user === undefined ? {} : readUser(user, folder),
    namespace: context.text('namespace') ?? 'default',
  };
}

function find(root: Section, list: string, name: string, key: string): Section | undefined {
  const found = root.named(list, name, key);
  if (found !== undefined) return found;
  const names = root.names(list);
  const there = names.length === 0 ? 'there is none' : `there is ${names.join(', ')}`;
  root.problem(`no ${key} is called ${name}; ${there}`, list);
  return undefined;
}

function readServer(cluster: Section): URL | undefined {
  const text = cluster.text('server');
  if (text !== undefined && /^https?:\/\//.test(text) && URL.canParse(text)) {
    const url = new URL(text);
    if (url.username === '' && url.search === '' && url.hash === '') return url;
  }
  cluster.problem(
    text === undefined ? 'missing; write https://HOST:6443' : 'no address such as https://HOST:6443',
    'server',
  );
  return undefined;
}

function readCluster(cluster: Section, folder: string): Omit<ApiServerAccess, 'server' | 'user' | 'namespace'> {
  const certificateAuthority = readPem(cluster, 'certificate-authority', folder);
  const tlsServerName = cluster.text('tls-server-name');
  const proxyUrl = cluster.text('proxy-url');
  const insecureSkipTlsVerify = cluster.flag('insecure-skip-tls-verify');
  if (insecureSkipTlsVerify && certificateAuthority !== undefined) {
    cluster.problem('contradicts certificate-authority; remove one of them', 'insecure-skip-tls-verify');
  }
  const execConfig = cluster
    .sections('extensions')
    .findLast((entry) => entry.raw('name') === execExtension)
    ?.raw('extension');
  return {
    ...(certificateAuthority !== undefined && { certificateAuthority }),
    ...(tlsServerName !== undefined && { tlsServerName }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    insecureSkipTlsVerify,
    disableCompression: cluster.flag('disable-compression'),
    ...(execConfig !== undefined && { execConfig }),
  };
}

function readUser(user: Section, folder: string): UserAccess {
  for (const field of ['as', 'as-uid', 'as-groups', 'as-user-extra']) {
    if (user.has(field)) user.problem('impersonation is not supported; use credentials of the node itself', field);
  }
  if (user.has('auth-provider'))
    user.problem('not supported any more; use exec with a credential plugin', 'auth-provider');
  const clientCertificate = readPem(user, 'client-certificate', folder);
  const clientKey = readKey(user, folder);
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    user.problem('client-certificate and client-key go together; one of them is missing');
  }
  const token = user.text('token');
  const tokenFile = user.text('tokenFile');
  const username = user.text('username');
  const hasToken = token !== undefined || tokenFile !== undefined;
  if (hasToken && username !== undefined) user.problem('a token and a username exclude each other; remove one of them');
  const exec = readExec(user, folder);
  return {
    ...(clientCertificate !== undefined && { clientCertificate }),
    ...(clientKey !== undefined && { clientKey }),
    ...(token !== undefined && { token: new Masked(token) }),
    ...(tokenFile !== undefined && { tokenFile: resolve(folder, tokenFile) }),
    ...(username !== undefined && { basic: new Masked({ username, password: user.text('password') ?? '' }) }),
    ...(exec !== undefined && { exec }),
  };
}

/** Inline data takes precedence over a file. */
function readPem(section: Section, name: string, folder: string): PemSource | undefined {
  const data = section.data(`${name}-data`);
  if (data !== undefined) return { data };
  const file = section.text(name);
  return file === undefined ? undefined : { file: resolve(folder, file) };
}

function readKey(user: Section, folder: string): KeySource | undefined {
  const source = readPem(user, 'client-key', folder);
  return source !== undefined && 'data' in source ? { data: new Masked(source.data) } : source;
}
