import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../../src/up/index.ts';

const openssl = '/usr/bin/openssl';
const days = '30';
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly user: string;
  readonly group?: string;
  /** `DNS:` and `IP:` names of a server; a client has none. */
  readonly names?: readonly string[];
}

/** One authority for servers, clients and what the controller manager signs, in files of one folder. */
export class CertificateAuthority implements KeyPair {
  readonly certificate: string;
  readonly key: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.certificate = join(folder, 'ca.crt');
    this.key = join(folder, 'ca.key');
  }

  async create(): Promise<void> {
    mkdirSync(this.#folder, { mode: 0o700 });
    // Without it, extensions of the machine's own configuration would be added.
    writeFileSync(this.#config, '[req]\ndistinguished_name = name\n[name]\n');
    const args = [
      ['req', '-x509', ...newKey, '-config', this.#config, '-days', days, '-subj', '/CN=cluster-authority'],
      ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'subjectKeyIdentifier=hash'],
      ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign'],
      ['-keyout', this.key, '-out', this.certificate],
    ];
    await runCommand(openssl, args.flat());
  }

  /** A key and a certificate for it, in files of this name. */
  async issue(name: string, subject: Subject): Promise<KeyPair> {
    const { key, request } = await this.request(name, subject);
    const [certificate, extensions] = [this.#file(name, 'crt'), this.#file(name, 'ext')];
    writeFileSync(extensions, extensionsOf(subject.names ?? []));
    const args = [
      ['x509', '-req', '-in', request, '-CA', this.certificate, '-CAkey', this.key, '-days', days],
      ['-set_serial', `0x1${randomBytes(8).toString('hex')}`, '-extfile', extensions, '-out', certificate],
    ];
    await runCommand(openssl, args.flat());
    return { certificate, key };
  }

  /** A key and a request for a certificate that somebody else shall sign. */
  async request(name: string, { user, group }: Subject): Promise<{ readonly key: string; readonly request: string }> {
    const [key, request] = [this.#file(name, 'key'), this.#file(name, 'csr')];
    const subject = `${group === undefined ? '' : `/O=${group}`}/CN=${user}`;
    const args = ['req', '-new', ...newKey, '-config', this.#config, '-subj', subject, '-keyout', key, '-out', request];
    await runCommand(openssl, args);
    return { key, request };
  }

  /** A key alone, and its public half. */
  async keyPair(name: string): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
    const [privateKey, publicKey] = [this.#file(name, 'key'), this.#file(name, 'pub')];
    const curve = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];
    await runCommand(openssl, ['genpkey', ...curve, '-out', privateKey]);
    await runCommand(openssl, ['pkey', '-in', privateKey, '-pubout', '-out', publicKey]);
    return { privateKey, publicKey };
  }

  get pem(): Buffer {
    return readFileSync(this.certificate);
  }

  get #config(): string {
    return join(this.#folder, 'openssl.cnf');
  }

  #file(name: string, kind: string): string {
    return join(this.#folder, `${name}.${kind}`);
  }
}

function extensionsOf(names: readonly string[]): string {
  const lines = [
    'basicConstraints = critical, CA:FALSE',
    'keyUsage = critical, digitalSignature',
    'authorityKeyIdentifier = keyid',
    `extendedKeyUsage = ${names.length === 0 ? 'clientAuth' : 'serverAuth'}`,
    ...(names.length === 0 ? [] : [`subjectAltName = ${names.join(', ')}`]),
  ];
  return `${lines.join('\n')}\n`;
}
