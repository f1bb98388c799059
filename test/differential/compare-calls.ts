import { isDeepStrictEqual } from 'node:util';
import type { FakeCall } from '../../src/testing/fake-cri/index.ts';
import { asRecorded } from '../../src/testing/golden-messages.ts';
import type { GoldenRecord } from '../../src/testing/golden.ts';
import { diffLists, diffValues } from './diff.ts';

interface Call {
  readonly verb: string;
  readonly request: Readonly<Record<string, unknown>>;
}

const reading = /^(List.*|.*Status|Version|RuntimeConfig)$/;

/**
 * The calls that change something, in order and content. What chance or haste decides does not count: how often a call
 * is repeated, how often a probe asks before something comes of it, and which of the removals that follow a pod's end
 * came before the recording was over.
 */
export function compareCalls(record: GoldenRecord, calls: readonly FakeCall[]): string[] {
  const recorded = tidy(completed(record));
  const ours = tidy(inRecordedForm(calls));
  const order = diffLists(recorded.main.map(titleOf), ours.main.map(titleOf));
  const differences = [
    ...order.missing.map((title) => `call missing: ${title}`),
    ...order.extra.map((title) => `call extra: ${title}`),
    ...recorded.removals
      .filter((removal) => !ours.removals.includes(removal))
      .map((removal) => `call missing at the end: ${removal}`),
  ];
  if (differences.length > 0) return differences;
  return recorded.main.flatMap((call, index) =>
    diffValues(call.request, ours.main[index]?.request, `call ${titleOf(call)}`),
  );
}

/** As the recorder wrote calls down. */
function inRecordedForm(calls: readonly FakeCall[]): Call[] {
  const written: Call[] = [];
  for (const { verb: name, request } of calls) {
    const verb = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const message = asRecorded(request as object);
    // Questions about an image are recorded when they name the pod.
    const told = verb === 'ImageStatus' ? JSON.stringify(message).includes('{{podUid}}') : !reading.test(verb);
    if (!told) continue;
    written.push({ verb, request: withSortedOptions(message) });
  }
  return written;
}

/** The records leave out the configuration of a sandbox where they have it already. */
function completed({ cri }: GoldenRecord): readonly Call[] {
  const run = cri.find(({ verb }) => verb === 'RunPodSandbox')?.request.config;
  return cri.map(({ verb, request }) => {
    const isShort: boolean = (request.sandboxConfig as unknown) === 'as in RunPodSandbox';
    return { verb, request: withSortedOptions({ ...request, ...(isShort && { sandboxConfig: run }) }) };
  });
}

/** The order of resolver options is left to chance in the recorded agent. */
function withSortedOptions(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sorted = Object.entries(value).map(([key, entry]) => {
    if (Array.isArray(entry)) return [key, key === 'options' ? entry.map(String).sort() : entry];
    const isMessage = typeof entry === 'object' && entry !== null;
    return [key, isMessage ? withSortedOptions(entry as Readonly<Record<string, unknown>>) : entry];
  });
  return Object.fromEntries(sorted) as Readonly<Record<string, unknown>>;
}

function tidy(calls: readonly Call[]): { readonly main: readonly Call[]; readonly removals: readonly string[] } {
  const end = calls.findLastIndex(({ verb }) => verb === 'StopPodSandbox');
  const isRemoval = ({ verb }: Call, index: number): boolean => index > end && verb.startsWith('Remove');
  const main = calls.filter((call, index) => !isRemoval(call, index));
  return { main: withoutRepetition(ordered(main)), removals: calls.filter(isRemoval).map(titleOf) };
}

/** Containers that are stopped together may be so in any order. */
function ordered(calls: readonly Call[]): readonly Call[] {
  const sorted = [...calls];
  for (let index = 1; index < sorted.length; index++) {
    for (let place = index; place > 0; place--) {
      const [before, call] = [sorted[place - 1], sorted[place]];
      if (before?.verb !== 'StopContainer' || call?.verb !== 'StopContainer' || titleOf(before) <= titleOf(call)) break;
      [sorted[place - 1], sorted[place]] = [call, before];
    }
  }
  return sorted;
}

/** Calls between two deeds, each once. Probes may go on while a container stops, so that a stop ends no stretch. */
function withoutRepetition(calls: readonly Call[]): readonly Call[] {
  const kept: Call[] = [];
  let stretch: Call[] = [];
  for (const call of calls) {
    if (stretch.some((seen) => isDeepStrictEqual(seen, call))) continue;
    stretch = /^(ExecSync|StopContainer)$/.test(call.verb) ? [...stretch, call] : [call];
    kept.push(call);
  }
  return kept;
}

/** A call in short: the verb and whom it is about. */
function titleOf({ verb, request }: Call): string {
  const config = request['config'] as { readonly metadata?: { readonly name: string; readonly attempt?: number } };
  const { name = '', attempt = 0 } = config?.metadata ?? {};
  if (verb === 'RunPodSandbox') return verb;
  if (verb === 'CreateContainer') return `${verb} ${name}#${attempt}`;
  if (verb === 'ExecSync') return `${verb} ${String(request['containerId'])} ${(request['cmd'] as string[]).join(' ')}`;
  const id = (request['containerId'] ?? request['podSandboxId'] ?? '') as string;
  return `${verb} ${id}`.trim();
}
