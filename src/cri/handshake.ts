import type { CallOptions } from '../base/call.ts';
import { describeError, kindOf, TubeletError } from '../base/errors.ts';
import type { Cri } from './cri.ts';

/** The version of the runtime protocol itself, which has not changed since the first one. */
const protocolVersion = '0.1.0';

export interface RuntimeVersion {
  /** `containerd`, `cri-o`: also the scheme of container ids in pod status. */
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
}

/**
 * Identifies the runtime and rejects an unsupported one. `unavailable` and `timeout` are worth another try;
 * `unsupported` is not, and its message says what the operator has to change.
 */
export async function handshake(
  cri: Pick<Cri, 'version' | 'endpoint'>,
  options?: CallOptions,
): Promise<RuntimeVersion> {
  const answer = await askVersion(cri, options);
  if (answer.version !== protocolVersion) {
    const versions = `it offers version "${answer.version}", not ${protocolVersion}`;
    throw new TubeletError('unsupported', `the runtime at ${cri.endpoint} speaks another protocol: ${versions}`);
  }
  return { name: answer.runtimeName, version: answer.runtimeVersion, apiVersion: answer.runtimeApiVersion };
}

async function askVersion(cri: Pick<Cri, 'version' | 'endpoint'>, options: CallOptions | undefined) {
  try {
    return await cri.version({ version: protocolVersion }, options);
  } catch (error) {
    const kind = kindOf(error);
    const why = describeError(error);
    if (kind === 'unsupported') {
      const advice =
        'use containerd 1.6 or later or CRI-O 1.20 or later; with containerd, see that "cri" is not among the ' +
        'disabled_plugins of its configuration (often /etc/containerd/config.toml), then restart it';
      const message = `the runtime at ${cri.endpoint} speaks no CRI v1: ${why}; ${advice}`;
      throw new TubeletError('unsupported', message, { cause: error });
    }
    if (kind === 'unavailable' || kind === 'timeout') {
      const message = `cannot reach the runtime at ${cri.endpoint}, is it running? ${why}`;
      throw new TubeletError(kind, message, { cause: error });
    }
    throw error;
  }
}
