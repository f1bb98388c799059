import { createHash } from 'node:crypto';
import { messageOf } from '../base/errors.ts';

/** A document on disk with a checksum over its content. */
interface Envelope {
  readonly version: number;
  readonly checksum: string;
  readonly content: unknown;
}

type CheckpointReading<T> =
  | { readonly kind: 'read'; readonly content: T }
  | { readonly kind: 'absent' }
  /** It exists and is unusable. */
  | { readonly kind: 'damaged'; readonly why: string };

/** The text of a checkpoint. */
export function formatCheckpoint(version: number, content: unknown): string {
  const envelope: Envelope = { version, checksum: checksumOf(content), content };
  return `${JSON.stringify(envelope)}\n`;
}

/** The content of a checkpoint, or why it is unusable. Another version is not damage, but has no meaning here. */
export function parseCheckpoint<T>(text: string, version: number): CheckpointReading<T> {
  let envelope: Partial<Envelope> | null;
  try {
    envelope = JSON.parse(text) as Partial<Envelope> | null;
  } catch (error) {
    return { kind: 'damaged', why: messageOf(error) };
  }
  if (
    typeof envelope !== 'object' ||
    envelope === null ||
    typeof envelope.checksum !== 'string' ||
    envelope.content === undefined
  ) {
    return { kind: 'damaged', why: 'it is not a checkpoint' };
  }
  if (envelope.version !== version) return { kind: 'absent' };
  if (envelope.checksum !== checksumOf(envelope.content)) return { kind: 'damaged', why: 'the checksum is wrong' };
  return { kind: 'read', content: envelope.content as T };
}

function checksumOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
