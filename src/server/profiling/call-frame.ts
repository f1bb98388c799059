import type { Frame } from './pprof.ts';

/** A function as V8 names it. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0 on; negative for what is not written in JavaScript. */
  readonly lineNumber: number;
}

export function frameOf({ functionName, url, lineNumber }: CallFrame): Frame {
  return {
    name: functionName === '' ? '(anonymous)' : functionName,
    file: url.replace(/^file:\/\//, ''),
    line: Math.max(0, lineNumber + 1),
  };
}
