import { createPublicKey, type KeyObject } from 'node:crypto';

/** What a PKCS #10 request in PEM form says. */
interface ReadCsr {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly publicKey: KeyObject;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

const organization = '55040a';
const commonName = '550403';
const alternativeNames = '551d11';

export function readCsr(pem: string): ReadCsr {
  const [request] = elements(Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'));
  const [info] = elements(request?.content);
  const [, subject, publicKey, attributes] = elements(info?.content);
  const names = elements(subject?.content).flatMap((set) =>
    elements(set.content).map((pair) => elements(pair.content)),
  );
  const named = (id: string): string[] =>
    names.flatMap(([type, value]) =>
      type?.content.toString('hex') === id ? [value?.content.toString('utf8') ?? ''] : [],
    );
  const alternatives = extensionOf(attributes, alternativeNames);
  return {
    commonName: named(commonName)[0] ?? '',
    organizations: named(organization),
    publicKey: createPublicKey({ key: publicKey?.whole ?? Buffer.alloc(0), type: 'spki', format: 'der' }),
    dnsNames: alternatives.flatMap(({ tag, content }) => (tag === 0x82 ? [content.toString('latin1')] : [])),
    ipAddresses: alternatives.flatMap(({ tag, content }) => (tag === 0x87 ? [addressOf(content)] : [])),
  };
}

/** The elements in one extension that the request asks for. */
function extensionOf(attributes: Element | undefined, id: string): readonly Element[] {
  for (const attribute of elements(attributes?.content)) {
    const [, values] = elements(attribute.content);
    for (const extension of elements(elements(values?.content)[0]?.content)) {
      const parts = elements(extension.content);
      if (parts[0]?.content.toString('hex') === id) return elements(elements(parts.at(-1)?.content)[0]?.content);
    }
  }
  return [];
}

function elements(bytes: Buffer = Buffer.alloc(0)): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at + 1] ?? 0;
    const sizeBytes = first < 0x80 ? 0 : first & 0x7f;
    const size = sizeBytes === 0 ? first : bytes.readUIntBE(at + 2, sizeBytes);
    const from = at + 2 + sizeBytes;
    found.push({
      tag: bytes[at] ?? 0,
      content: bytes.subarray(from, from + size),
      whole: bytes.subarray(at, from + size),
    });
    at = from + size;
  }
  return found;
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  return Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16)).join(':');
}
