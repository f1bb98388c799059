import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** A private key on curve P-256. */
export async function createKey(): Promise<KeyObject> {
  const { privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return privateKey;
}

/** `EC PRIVATE KEY` in PEM form, as the Go kubelet writes it. */
export function keyToPem(key: KeyObject): string {
  return key.export({ type: 'sec1', format: 'pem' }).toString();
}
