import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Client, connectivityState, credentials, Metadata, status as codes, type ServiceError } from '@grpc/grpc-js';
import { withTimeout } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { cutText } from '../../../base/cut-text.ts';
import { Duration } from '../../../base/duration.ts';
import { isKind, messageOf } from '../../../base/errors.ts';
import { goQuote } from '../../../model/go-text.ts';
import type { Prober, ProbeOutcome } from '../ports.ts';
import { containerPort } from './container-port.ts';
import { probeUserAgent } from './http-request.ts';
import { hostAndPort } from '../../../model/network-text.ts';
import { noAddressYet } from './no-address.ts';

const checkPath = '/grpc.health.v1.Health/Check';

const channelOptions = {
  'grpc.primary_user_agent': probeUserAgent,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  // Channels are closed after one call; a connection kept in the shared pool would outlive them.
  'grpc.use_local_subchannel_pool': 1,
  // A server that comes up while the probe waits is found within its time.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // An answer is one number.
  'grpc.max_receive_message_length': 64 * 1_024,
} as const;

/** A service with the status SERVING is success; everything else is failure, never an error. */
export function grpcProber(clock: Clock): Prober {
  return async ({ probe, container, podIp, timeoutMs }, signal) => {
    const resolved = containerPort(probe.grpc?.port ?? 0, container);
    if ('error' in resolved) return { kind: 'error', state: 'unknown', ...resolved };
    if (podIp === undefined || podIp === '') return noAddressYet;
    const address = hostAndPort(podIp, resolved.port);
    const within = Duration.ofMillis(timeoutMs).toString();
    const client = new Client(address, credentials.createInsecure(), channelOptions);
    let connected = false;
    try {
      const status = await withTimeout(
        clock,
        timeoutMs,
        async (limit) => {
          await untilReady(client, limit);
          connected = true;
          return check(client, probe.grpc?.service ?? '', limit);
        },
        signal,
      );
      if (status === 'SERVING') return { kind: 'success', output: 'service healthy' };
      return { kind: 'failure', output: `service unhealthy (responded with ${goQuote(status)})` };
    } catch (error) {
      signal.throwIfAborted();
      return connected ? notChecked(error, within) : notConnected(error, address, within);
    } finally {
      client.close();
    }
  };
}

/**
 * The library's deadline would be on another clock than the agent's; closing the client ends the wait. The library's own
 * `waitForReady` makes a closed channel connect once more, and that connection would never be closed.
 */
function untilReady(client: Client, limit: AbortSignal): Promise<void> {
  const channel = client.getChannel();
  return new Promise((resolve, reject) => {
    const onState = (): void => {
      if (limit.aborted) return reject(limit.reason);
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return resolve();
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, onState);
    };
    onState();
  });
}

function check(client: Client, service: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      checkPath,
      encodeCheckRequest,
      decodeCheckResponse,
      service,
      new Metadata(),
      {},
      (error, status) => {
        if (error !== null) reject(error);
        else resolve(status ?? 'UNKNOWN');
      },
    );
    signal.addEventListener('abort', () => call.cancel(), { once: true });
  });
}

function notConnected(error: unknown, address: string, within: string): ProbeOutcome {
  if (isKind(error, 'timeout')) {
    const output = `timeout: failed to connect service ${goQuote(address)} within ${within}: context deadline exceeded`;
    return { kind: 'failure', output, unanswered: true };
  }
  const output = `error: failed to connect service at ${goQuote(address)}: ${messageOf(error)}`;
  return { kind: 'failure', output };
}

function notChecked(error: unknown, within: string): ProbeOutcome {
  if (isKind(error, 'timeout')) {
    return { kind: 'failure', output: `timeout: health rpc did not complete within ${within}`, unanswered: true };
  }
  if (!isServiceError(error)) return { kind: 'failure', output: `error: health rpc probe failed: ${messageOf(error)}` };
  if (error.code === codes.UNIMPLEMENTED) {
    const what = 'this server does not implement the grpc health protocol (grpc.health.v1.Health)';
    return { kind: 'failure', output: `error: ${what}: ${cutText(error.details)}` };
  }
  const detail = `rpc error: code = ${codeName(error.code)} desc = ${cutText(error.details)}`;
  const unanswered = error.code === codes.UNAVAILABLE || error.code === codes.DEADLINE_EXCEEDED;
  return { kind: 'failure', output: `error: health rpc probe failed: ${detail}`, ...(unanswered && { unanswered }) };
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error && typeof error.code === 'number';
}

/** DEADLINE_EXCEEDED → DeadlineExceeded; one code has another spelling in words. */
function codeName(code: codes): string {
  if (code === codes.CANCELLED) return 'Canceled';
  const words = (codes[code] ?? String(code)).split('_');
  return words.map((word) => word.slice(0, 1) + word.slice(1).toLowerCase()).join('');
}

/** The two messages of grpc.health.v1.Health/Check, of which each has one field, numbered one. */

const statusNames: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

export function encodeCheckRequest(service: string): Buffer {
  const writer = new BinaryWriter();
  if (service !== '') writer.tag(1, WireType.LengthDelimited).string(service);
  return Buffer.from(writer.finish());
}

/** The name of the status; an unknown one is its number. */
export function decodeCheckResponse(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  let status = 0;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.Varint) status = reader.int32();
    else reader.skip(wireType, field);
  }
  return statusNames[status] ?? String(status);
}
