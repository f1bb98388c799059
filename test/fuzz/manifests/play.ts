import { describeError } from '../../../src/base/errors.ts';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import type { ApiObject } from '../../../src/model/api-client.ts';
import { apiResources, type ApiResource } from '../../../src/model/api-resources.ts';
import { decodeObject } from '../../../src/model/decode-object.ts';
import { isStatic, podObject } from '../../../src/model/desired-pod.ts';
import { createLog } from '../../../src/telemetry/index.ts';
import type { LogEntry } from '../../../src/testing/memory-log.ts';
import { nodeName } from '../../support/agent-settings.ts';
import type { ManifestCase } from './case.ts';
import type { LogLine, Played } from './played.ts';
import { plainOf, type Tree } from './tree.ts';
import { checkFile, checkName, type ManifestWorld } from './world.ts';

/** For everything that a manifest brings about soon: belief in a faulty text, volumes, containers, probes. */
const settleMs = 3_000;
const checkMs = 30_000;
/** The longest grace that a pod of a case may have, and a little. */
const endMs = 90_000;

/** What the agent reads for itself. */
const ofNode: ReadonlySet<string> = new Set(['nodes', 'leases', 'csinodes']);
const reading = /^(list|.*[sS]tatus$|version|runtimeConfig)/;

/** Throws a case at a world, looks what comes of it, and has a good pod start and end afterwards. */
export async function play(world: ManifestWorld, made: ManifestCase, number: number): Promise<Played> {
  const { node, folder, api } = world;
  const { clock, log, cri } = node;
  world.tidy();
  const broken: string[] = [];
  const hostPaths: string[] = [];
  const goodBefore = world.good();
  const used = process.cpuUsage();
  let pods: Played['pods'] = [];
  let left: readonly string[] = [];
  let stored: readonly StoredObject[] = [];
  const attempt = async (what: string, step: () => Promise<unknown>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      broken.push(`${what}: ${describeError(error)}`);
    }
  };
  await attempt('the node did not come to rest', async () => {
    folder.put(made.files);
    stored = made.objects.map((tree) => putObject(world, tree, broken)).filter((one) => one !== undefined);
    hostPaths.push(...stored.flatMap((one) => one.hostPaths));
    await clock.advance(settleMs);
  });
  await attempt('pods cannot be shown', async () => {
    pods = world
      .desired()
      .filter((pod) => !world.isGood(pod))
      .map((pod) => ({
        pod: podObject(pod),
        isStatic: isStatic(pod),
        status: world.agent.views.stores.statuses.get(pod.uid),
      }));
    hostPaths.push(...pods.flatMap(({ pod }) => hostPathsOf(pod)));
    JSON.stringify(world.agent.views.pods.pods());
    world.agent.registry.render();
  });
  const check = checkFile(number);
  await attempt('a good pod does not start afterwards', async () => {
    folder.remove(made.files);
    removeObjects(world, stored);
    folder.put([check]);
    await clock.runUntil(() => isCheckReady(world, number), checkMs);
  });
  await attempt('a good pod does not end afterwards', async () => {
    folder.remove([check]);
    await clock.advance(1_000);
    const limit = clock.monotonic() + endMs;
    while ((left = await world.left()).length > 0 && clock.monotonic() < limit) await clock.advance(2_000);
  });
  const { user, system } = process.cpuUsage(used);
  return {
    world: world.kind,
    files: made.files.map(({ name }) => name),
    cpuMs: (user + system) / 1_000,
    broken,
    log: linesOf(log.entries),
    events: eventsOf(world),
    pods,
    touches: [...world.record.touches],
    hostPaths,
    requests: cri.calls.filter(({ verb }) => !reading.test(verb)).map(({ verb, request }) => ({ verb, request })),
    apiReads: (api?.requests({ verb: 'get' }) ?? [])
      .filter(({ resource = '' }) => !ofNode.has(resource))
      .map(({ resource, namespace, name }) => `${resource} ${namespace}/${name}`),
    goodBefore,
    goodAfter: world.good(),
    left,
  };
}

function isCheckReady(world: ManifestWorld, number: number): boolean {
  const pod = world.desired().find(({ name }) => name === checkName(number));
  return pod !== undefined && world.isReady(pod.uid);
}

/** What an API server does with an object that somebody sends: it decodes it, and refuses it where it cannot. */
function putObject({ api }: ManifestWorld, tree: Tree, problems: string[]): StoredObject | undefined {
  if (api === undefined) return undefined;
  const plain = plainOf(tree);
  const kind = (plain as { readonly kind?: unknown } | null)?.kind;
  if (kind !== 'Pod' && kind !== 'ConfigMap' && kind !== 'Secret') return undefined;
  const { object, problems: faults } = decodeObject(kind, plain, () => 0);
  if (faults.some(({ severity }) => severity === 'error')) return undefined;
  const { spec } = object as Pod;
  const bound = { ...object, apiVersion: 'v1', kind, ...(kind === 'Pod' && spec && { spec: { ...spec, nodeName } }) };
  try {
    const { metadata } = api.objects.put<ApiObject>(bound);
    return {
      resource: resources[kind],
      name: metadata?.name ?? '',
      namespace: metadata?.namespace ?? 'default',
      hostPaths: hostPathsOf(object),
    };
  } catch (error) {
    // It refuses what has no proper name; an error of the engine comes from the code that fills in defaults.
    if (error instanceof TypeError || error instanceof RangeError)
      problems.push(`defaults cannot be filled in: ${describeError(error)}`);
    return undefined;
  }
}

const resources = { Pod: apiResources.pods, ConfigMap: apiResources.configMaps, Secret: apiResources.secrets } as const;

const hostPathsOf = ({ spec }: Pod): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ hostPath }) => (hostPath === undefined ? [] : [hostPath.path]));

interface StoredObject {
  readonly resource: ApiResource;
  readonly name: string;
  readonly namespace: string;
  readonly hostPaths: readonly string[];
}

function removeObjects({ api }: ManifestWorld, stored: readonly StoredObject[]): void {
  for (const { resource, namespace, name } of stored) api?.objects.wipe(resource, { namespace, name });
}

interface LoggedEvent {
  readonly kind: string;
  readonly object: { readonly name: string };
  readonly reason: string;
  readonly message: string;
}

function eventsOf({ log, api }: ManifestWorld): Played['events'] {
  const recorded = log.entries.flatMap(({ message: line, fields }) => {
    const { kind, object, reason, message } = fields as unknown as LoggedEvent;
    return line === 'Event occurred' && kind === 'Pod' ? [{ pod: object.name, reason, message }] : [];
  });
  const sent = api?.requests({ resource: 'events' }) ?? [];
  return [
    ...recorded,
    ...sent.flatMap(({ body }) => {
      const {
        involvedObject,
        reason = '',
        message = '',
      } = body as {
        readonly involvedObject?: { readonly name?: string };
        readonly reason?: string;
        readonly message?: string;
      };
      return involvedObject === undefined ? [] : [{ pod: involvedObject.name ?? '', reason, message }];
    }),
  ];
}

/** The lines as they would be written. */
function linesOf(entries: readonly LogEntry[]): readonly LogLine[] {
  let text = '';
  const log = createLog({
    format: 'text',
    clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
    verbosity: 10,
    write: (part) => void (text += part),
  });
  return entries.map(({ severity, level = 0, message, fields, error }) => {
    text = '';
    if (severity === 'error') log.error(error, message, fields);
    else if (severity === 'debug') log.debug(level, message, fields);
    else if (severity === 'warn') log.warn(message, fields);
    else log.info(message, fields);
    log.flush();
    const causes: unknown[] = [];
    for (let at = error; at instanceof Error && causes.length < 8; at = at.cause) causes.push(at);
    const { path } = fields;
    return {
      severity,
      message,
      text: text.replace(/\n$/, ''),
      path: typeof path === 'string' ? path : undefined,
      error: error === undefined ? undefined : describeError(error),
      errorNames: causes.map((cause) => (cause as Error).name),
    };
  });
}
