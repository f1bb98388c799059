/** Which span of which trace, as processes pass it on in the header `traceparent`. */
export interface TraceContext {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** The trace is recorded. */
  readonly sampled: boolean;
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const sampledFlag = 1;

/** What a header says; nothing when it is not one. Later versions may say more behind the part that we know. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = shape.exec(header ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${sampled ? sampledFlag : 0}`;
}

/** The first span of a trace is sampled by chance, and one trace the same way everywhere: by its id. */
export function isSampled(traceId: string, perMillion: number): boolean {
  // The last 52 bits are the random part in every implementation.
  return Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 < perMillion / 1_000_000;
}
