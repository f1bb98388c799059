import type { ContainerStatus, Pod } from '../gen/kubernetes/types.ts';

/** One pod as the console shows it. */
export interface PodRow {
  readonly namespace: string;
  readonly name: string;
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly age: string;
  readonly ip: string;
}

/** What the containers add up to. */
interface Summary {
  readonly status: string;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: number | undefined;
}

/** The row of a pod, in the words and with the rules that kubectl users know. */
export function podRow(pod: Pod, nowMs: number): PodRow {
  const summary = summarize(pod);
  const sidecars = (pod.spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always').length;
  const total = (pod.spec?.containers ?? []).length + sidecars;
  const since = summary.lastRestart === undefined ? '' : ` (${formatAge(nowMs - summary.lastRestart)} ago)`;
  const born = time(pod.metadata?.creationTimestamp) ?? time(pod.status?.startTime);
  return {
    namespace: pod.metadata?.namespace ?? 'default',
    name: pod.metadata?.name ?? '',
    ready: `${summary.ready}/${total}`,
    status: leavingStatus(pod) ?? summary.status,
    restarts: `${summary.restarts}${since}`,
    age: born === undefined ? '<unknown>' : formatAge(nowMs - born),
    ip: pod.status?.podIP || '<none>',
  };
}

/** A length of time with as much detail as its size deserves: 45s, 3m20s, 25m, 4h10m, 30h, 5d2h, 40d, 3y5d. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  // A second of doubt between two clocks is no age at all.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const years = Math.floor(days / 365);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

function leavingStatus(pod: Pod): string | undefined {
  if (pod.metadata?.deletionTimestamp === undefined) return undefined;
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '') ? undefined : 'Terminating';
}

function summarize(pod: Pod): Summary {
  const phase = pod.status?.reason || pod.status?.phase || 'Unknown';
  const init = summarizeInit(pod);
  if (init.status !== undefined && !hasCondition(pod, 'Initialized')) {
    return { status: init.status, ready: init.ready, restarts: init.allRestarts, lastRestart: init.lastRestart };
  }
  const statuses = pod.status?.containerStatuses ?? [];
  const running = statuses.filter((status) => status.ready && status.state?.running !== undefined).length;
  // The first container with a word of its own gives the status, so they are asked in order.
  const word = statuses.map(containerWord).find((one) => one !== undefined);
  let status = word ?? phase;
  if (status === 'Completed' && running > 0) status = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
  return {
    status,
    ready: init.ready + running,
    restarts: sum(statuses.map((entry) => entry.restartCount)) + init.sidecarRestarts,
    lastRestart: latest([...statuses.map(lastEnd), init.lastSidecarRestart]),
  };
}

interface InitSummary {
  /** What the pod waits for; nothing when the init containers are done. */
  readonly status: string | undefined;
  /** Ready sidecars. */
  readonly ready: number;
  readonly allRestarts: number;
  readonly lastRestart: number | undefined;
  readonly sidecarRestarts: number;
  readonly lastSidecarRestart: number | undefined;
}

function summarizeInit(pod: Pod): InitSummary {
  const specs = pod.spec?.initContainers ?? [];
  const statuses = pod.status?.initContainerStatuses ?? [];
  const isSidecar = (status: ContainerStatus): boolean =>
    specs.some((container) => container.name === status.name && container.restartPolicy === 'Always');
  let ready = 0;
  let word: string | undefined;
  for (const [index, status] of statuses.entries()) {
    if (status.state?.terminated?.exitCode === 0) continue;
    if (isSidecar(status) && status.started === true) {
      if (status.ready) ready++;
      continue;
    }
    word = initWord(status, index, specs.length);
    break;
  }
  const sidecars = statuses.filter(isSidecar);
  return {
    status: word,
    ready,
    allRestarts: sum(statuses.map((status) => status.restartCount)),
    lastRestart: latest(statuses.map(lastEnd)),
    sidecarRestarts: sum(sidecars.map((status) => status.restartCount)),
    lastSidecarRestart: latest(sidecars.map(lastEnd)),
  };
}

function initWord(status: ContainerStatus, index: number, total: number): string {
  if (status.state?.terminated !== undefined) return `Init:${containerWord(status)}`;
  const waiting = status.state?.waiting?.reason ?? '';
  return waiting === '' || waiting === 'PodInitializing' ? `Init:${index}/${total}` : `Init:${waiting}`;
}

/** What a container that does not run has to say. */
function containerWord(status: ContainerStatus): string | undefined {
  const { waiting, terminated } = status.state ?? {};
  if (waiting?.reason) return waiting.reason;
  if (terminated === undefined) return undefined;
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

function hasCondition(pod: Pod, type: string): boolean {
  return (pod.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

const lastEnd = (status: ContainerStatus): number | undefined => time(status.lastState?.terminated?.finishedAt);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function time(text: string | null | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
