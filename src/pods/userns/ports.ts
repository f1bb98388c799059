import type { CallOptions } from '../../base/call.ts';
import type { StatusRequest, StatusResponse } from '../../gen/cri/api.ts';
import type { ProgramResult } from '../../model/program-calls.ts';

/** The disk as far as the records of user namespaces need it. */
export interface RecordFiles {
  /** Names in a folder; none when the folder is not there. */
  list(path: string): Promise<readonly string[]>;
  /** Kind `notFound` when there is none. */
  readText(path: string): Promise<string>;
  /** A reader, and a machine that loses power, sees the old text or the new, never a part. */
  replace(path: string, text: string): Promise<void>;
}

/** The features of the runtime's handlers, as it reports them. */
export interface RuntimeFeatures {
  status(request: StatusRequest, options?: CallOptions): Promise<StatusResponse>;
}

/** Programs of this machine. */
export interface Programs {
  /** Runs a program to its end; undefined when the machine has no such program. */
  run(program: string, args: readonly string[]): Promise<ProgramResult | undefined>;
}
