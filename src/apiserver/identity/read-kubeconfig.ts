import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import { YamlError } from '../../base/yaml.ts';
import type { ApiServerAccess, KeySource, PemSource } from '../kubeconfig/access.ts';
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts';
import type { KubeconfigFinding } from './bootstrap-plan.ts';
import { readPair, type CertificatePair } from './certificate-pair.ts';
import type { CertificateFiles } from './ports.ts';

type Reader = Pick<CertificateFiles, 'readText'>;

export interface KubeconfigReading {
  readonly finding: KubeconfigFinding;
  /** Unless it is missing or broken. */
  readonly access?: ApiServerAccess;
  /** Where it has a usable certificate, expired or not. */
  readonly pair?: CertificatePair;
}

/** Throws `notFound`, or `invalid` with everything that is wrong. */
export async function readAccess(files: Reader, path: string): Promise<ApiServerAccess> {
  const text = await files.readText(path);
  try {
    return parseKubeconfig(text, { file: path });
  } catch (error) {
    if (error instanceof YamlError) throw new TubeletError('invalid', `${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Reads --kubeconfig and classifies its credentials. */
export async function readKubeconfig(files: Reader, path: string): Promise<KubeconfigReading> {
  let access: ApiServerAccess;
  try {
    access = await readAccess(files, path);
  } catch (error) {
    if (isKind(error, 'notFound')) return { finding: { kind: 'missing' } };
    if (isKind(error, 'invalid')) return { finding: { kind: 'broken', why: messageOf(error) } };
    throw error;
  }
  const { clientCertificate, clientKey, ...others } = access.user;
  if (clientCertificate === undefined || clientKey === undefined) {
    return { finding: { kind: Object.keys(others).length > 0 ? 'otherCredentials' : 'anonymous' }, access };
  }
  try {
    const pair = readPair(await textOf(files, clientCertificate), await textOf(files, clientKey));
    return { finding: { kind: 'certificate', notAfter: pair.notAfter }, access, pair };
  } catch (error) {
    if (!isKind(error, 'notFound', 'invalid')) throw error;
    return { finding: { kind: 'badCertificate', why: messageOf(error) }, access };
  }
}

function textOf(files: Reader, source: PemSource | KeySource): Promise<string> {
  if ('file' in source) return files.readText(source.file);
  return Promise.resolve(typeof source.data === 'string' ? source.data : source.data.reveal());
}
