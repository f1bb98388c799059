import { hostname } from 'node:os';
import { linkedSignal, withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { describeError, isKind } from '../base/errors.ts';
import { Heartbeats } from '../base/heartbeats.ts';
import { systemClock } from '../base/system-clock.ts';
import { notActedOn, shortened, type Settings } from '../config/index.ts';
import {
  acquireFileLock,
  serviceNotifier,
  watchContention,
  watchdogTimeoutMs,
  type ServiceNotifier,
} from '../host/index.ts';
import type { LogSink, Registry } from '../telemetry/index.ts';
import type { RunMarkerFile } from '../state/index.ts';
import type { AgentIdentity } from './agent/boot.ts';
import type { Platform } from './agent/platform.ts';
import { realPlatform } from './agent/real-platform.ts';
import { runMarker } from './agent/run-marker.ts';
import { startAgent, type RunningAgent } from './agent/start-agent.ts';
import { createLogSink } from './agent/telemetry.ts';
import type { CommandIo } from './command.ts';
import { applyV8Flags } from './engine-settings.ts';
import { closeUnaskedInspector } from './no-inspector.ts';
import { runOnce } from './run-once.ts';
import { ServiceWatchdog, watchdogSpan } from './service-watchdog.ts';
import { UnexpectedErrors } from './unexpected-errors.ts';

/** The limit of a stop; what is not done by then is left to the next start. */
const stopMs = 10_000;

/** Runs the node agent until a signal stops it; answers the exit code. */
export async function runAgent(settings: Settings, warnings: readonly string[], io: CommandIo): Promise<number> {
  applyV8Flags();
  await closeUnaskedInspector();
  const clock = systemClock();
  const log = createLogSink(settings, clock);
  for (const warning of warnings) log.warn(warning);
  const idle = notActedOn(settings);
  if (idle.length > 0)
    log.warn('Settings that this version accepts but does not act on yet', { settings: shortened(idle) });
  const unexpected = new UnexpectedErrors({ clock, log });
  unexpected.watch(process);
  const life = linkedSignal(io.signal);
  unexpected.signal.addEventListener('abort', () => life.abort(unexpected.signal.reason), { once: true });
  try {
    const code = await run(settings, clock, log, unexpected, { ...io, signal: life.signal });
    return unexpected.signal.aborted ? 1 : code;
  } catch (error) {
    if (io.signal.aborted && !unexpected.signal.aborted && isKind(error, 'cancelled')) return 0;
    log.error(error, 'Failed to run kubelet');
    log.flush();
    io.stderr(`Error: ${describeError(error)}\n`);
    return 1;
  } finally {
    log.flush();
  }
}

async function run(
  settings: Settings,
  clock: Clock,
  log: LogSink,
  unexpected: UnexpectedErrors,
  io: CommandIo,
): Promise<number> {
  const lock = await takeLock(settings, clock, log, io.signal);
  const nodeName = nodeNameOf(settings);
  const marker = runMarker(settings, clock, log);
  const lastRun = await marker.begin();
  if (lastRun.kind !== 'stopped') log.warn(lastRun.message);
  log.info('Starting kubelet', { version: settings.version, node: nodeName, pid: process.pid });
  const notifier = serviceNotifier(io.env);
  try {
    const identity = {
      nodeName,
      onServing: () => notified(notifier.ready(), log),
      heartbeats: new Heartbeats(settings.config.runtimeRequestTimeout.toMillis()),
      countUnexpected: (metrics: Registry) => unexpected.countIn(metrics),
      lastRun,
    };
    const platform = realPlatform({ settings, nodeName, clock, log, env: io.env });
    return await runStarted({ settings, platform, identity }, lock, marker, notifier, io);
  } finally {
    await marker.end();
  }
}

interface AgentParts {
  readonly settings: Settings;
  readonly platform: Platform;
  readonly identity: AgentIdentity;
}

/** A service manager that cannot be notified keeps the agent from nothing. */
async function notified(notification: Promise<boolean>, log: LogSink): Promise<void> {
  try {
    await notification;
  } catch (error) {
    log.warn('The service manager cannot be notified', { err: describeError(error) });
  }
}

async function runStarted(
  parts: AgentParts,
  lock: HeldLock,
  marker: RunMarkerFile,
  notifier: ServiceNotifier,
  io: CommandIo,
): Promise<number> {
  const watchdog = serviceWatchdog(parts, notifier);
  await watchdog?.start();
  // Also of an agent that is stopped before it has found its runtime.
  const onStop = (): void => void notified(notifier.stopping(), parts.platform.log);
  io.signal.addEventListener('abort', onStop, { once: true });
  try {
    return await runWatched(parts, lock, marker, io);
  } finally {
    io.signal.removeEventListener('abort', onStop);
    await watchdog?.stop();
  }
}

async function runWatched(
  { settings, platform, identity }: AgentParts,
  lock: HeldLock,
  marker: RunMarkerFile,
  io: CommandIo,
): Promise<number> {
  const { clock, log } = platform;
  const agent = await startAgent(settings, platform, identity, io.signal);
  try {
    if (settings.config.runOnce) return await runOnce({ agent, clock, io });
    await Promise.race([aborted(io.signal), ...(lock.contended ? [lock.contended] : [])]);
    return 0;
  } finally {
    log.info('Stopping kubelet');
    await marker.stopping();
    await stopInTime(agent, clock, log);
  }
}

/** Runs from the beginning: an agent that waits for its runtime is healthy. */
function serviceWatchdog(
  { settings, platform, identity: { heartbeats } }: AgentParts,
  notifier: ServiceNotifier,
): ServiceWatchdog | undefined {
  if (!settings.featureGates.enabled('SystemdWatchdog')) return undefined;
  const { clock, random, log, env } = platform;
  const timeoutMs = watchdogSpan(() => watchdogTimeoutMs(env, process.pid));
  if (timeoutMs === undefined) {
    log.info('Systemd watchdog is not enabled');
    return undefined;
  }
  log.info('Notifying the systemd watchdog', { timeoutMs });
  return new ServiceWatchdog({ clock, random, log, heartbeats, notifier, timeoutMs });
}

async function stopInTime(agent: RunningAgent, clock: Clock, log: LogSink): Promise<void> {
  try {
    await withTimeout(clock, stopMs, () => agent.stop());
  } catch (error) {
    log.error(error, 'The agent did not stop in time');
  }
}

/** The node's name: from the flag or the machine, always in lower case. */
function nodeNameOf({ flags }: Settings): string {
  return (flags.hostnameOverride || hostname()).trim().toLowerCase();
}

interface HeldLock {
  /** Resolves when another process wants the lock and this one must exit. */
  readonly contended?: Promise<void>;
}

/** Takes the lock file, where one is configured. */
async function takeLock(settings: Settings, clock: Clock, log: LogSink, signal: AbortSignal): Promise<HeldLock> {
  const { lockFile, exitOnLockContention } = settings.flags;
  if (lockFile === '') return {};
  const onWait = (): void => log.info('Waiting for the lock file, another process holds it', { path: lockFile });
  await acquireFileLock(lockFile, { clock, signal, onWait });
  if (!exitOnLockContention) return {};
  let giveWay: () => void = () => {};
  const contended = new Promise<void>((resolve) => {
    giveWay = resolve;
  });
  await watchContention(lockFile, (what) => {
    log.info('Another process wants the lock file, giving way', { path: lockFile, what });
    giveWay();
  });
  return { contended };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
