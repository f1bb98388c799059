import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event, Node, Pod } from '../../../../src/gen/kubernetes/types.ts';
import { readyCondition } from '../../../support/real-node.ts';
import { clock, until } from '../../../support/real-wait.ts';
import { startControlPlane, type ControlPlane } from '../control-plane.ts';
import { isReady, prepareNode, type AgentProgram, type JoinedNode } from '../join-node.ts';
import { NodeLook } from './node-look.ts';
import { nameOf, PodWatch } from './pod-watch.ts';
import { isMarking, markFile, type SwapWorld } from './parts.ts';
import { staticPod, swapObjects } from './pods.ts';
import type { Sitter } from './twins.ts';

/** Generous: the machine may be busy with other things. */
const patienceMs = 120_000;

/** A control plane, a node whose agents change, and eyes on both. */
export class SwapStage {
  readonly plane: ControlPlane;
  readonly node: JoinedNode;
  readonly watch: PodWatch;
  readonly look: NodeLook;
  readonly #began = clock.monotonic();
  readonly #fronts = new Map<string, string>();

  constructor(plane: ControlPlane, node: JoinedNode, watch: PodWatch) {
    this.plane = plane;
    this.node = node;
    this.watch = watch;
    this.look = new NodeLook(node.runtime.endpoint, join(node.names.kubeletRoot, 'pods'));
  }

  static async open(): Promise<SwapStage> {
    // However long a change of agents takes here: nobody else must call the node lost meanwhile.
    const plane = await startControlPlane({ controllerManagerFlags: ['--node-monitor-grace-period=10m'] });
    try {
      const watch = await PodWatch.open(plane);
      return new SwapStage(plane, await prepareNode(plane), watch);
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.watch.close();
    this.look.close();
    await this.node.destroy();
    await this.plane.stop();
  }

  /** Tells people what was done and compared, with the seconds that have passed. */
  say(text: string): void {
    process.stdout.write(`${Math.round((clock.monotonic() - this.#began) / 1_000)} s: ${text}\n`);
  }

  /** Ends the agent, starts another, and returns when that one answers for the node. */
  async handTo(program: AgentProgram): Promise<void> {
    const { node, plane } = this;
    await node.stopAgent();
    node.start(program);
    const isThere = async (): Promise<boolean> => {
      const found = JSON.parse(await plane.ask('get', 'node', node.name, '--output=json')) as Node;
      const isOurs = (found.status?.nodeInfo?.kubeletVersion ?? '').includes('tubelet');
      return isReady(found) && isOurs === (program === 'tubelet');
    };
    await until(`${program} answers for the node`, async () => !node.agent.running || (await isThere()), {
      timeoutMs: patienceMs,
      state: () => node.agent.text.slice(-3_000),
    });
    if (!node.agent.running) throw new Error(`${program} ended: ${node.agent.text.slice(-3_000)}`);
    this.say(`${program} looks after the node`);
  }

  async world(namespace: string): Promise<SwapWorld> {
    const hostFolder = join(this.node.names.root, 'shared', namespace);
    mkdirSync(hostFolder, { recursive: true });
    const world = { namespace, image: this.node.image, hostFolder };
    await this.apply(swapObjects(world));
    const account = ['get', 'serviceaccount', 'default', `--namespace=${namespace}`];
    await until(`pods of ${namespace} have a service account`, () => this.plane.ask(...account));
    return world;
  }

  async apply(items: readonly object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stderr } = await this.plane.kubectl(['apply', '--filename=-'], list);
    if (code !== 0) throw new Error(stderr);
  }

  /** Puts a manifest into the folder of the node as one should: written elsewhere, then renamed. */
  putStatic(name: string, uid: string): void {
    const { manifests } = this.node.names;
    writeFileSync(join(manifests, `.${name}`), JSON.stringify(staticPod(name, uid, this.node.image)));
    renameSync(join(manifests, `.${name}`), join(manifests, `${name}.json`));
  }

  /** Returns when there are so many pods and all are as they will stay. */
  async settled(count: number): Promise<void> {
    const { watch } = this;
    await until(
      `${count} pods are as they should be`,
      () => {
        const all = [...watch.now().values()];
        return all.length === count && all.every(isSettled);
      },
      {
        timeoutMs: patienceMs,
        state: () => [...watch.now()].filter(([, pod]) => !isSettled(pod)).map(([name, { status }]) => [name, status]),
      },
    );
  }

  /** Containers that note when probes ask them, by id, with how often that was. */
  async marks(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    const marking = (await this.look.containers()).filter(({ owner, running }) => running && isMarking(owner));
    for (const { id } of marking) counts.set(id, await this.#marksOf(id));
    return counts;
  }

  /** Waits until every container that probes have asked before is asked again, more than once. */
  async probedAgain(before: ReadonlyMap<string, number>): Promise<void> {
    for (const [id, count] of before) {
      const isAsked = async (): Promise<boolean> => (await this.#marksOf(id)) >= count + 2;
      await until(`probes ask container ${id} again`, isAsked, { timeoutMs: patienceMs });
    }
  }

  async #marksOf(id: string): Promise<number> {
    return Number(await this.look.exec(id, 'sh', '-c', `cat ${markFile} 2>/dev/null | wc -l`));
  }

  /** Events about pods, in short. */
  async events(): Promise<readonly string[]> {
    const text = await this.plane.ask('get', 'events', '--all-namespaces', '--output=json');
    const { items } = JSON.parse(text) as { readonly items: readonly Event[] };
    return items
      .filter(({ involvedObject }) => involvedObject.kind === 'Pod')
      .map(({ involvedObject: { namespace, name }, reason, message, count, metadata }) =>
        [`${namespace}/${name}`, reason, message, `x${count}`, metadata?.uid].join(' '),
      );
  }

  /** The pods whose statuses the node's agents have written, one name for each time. */
  statusWrites(): readonly string[] {
    const path = /\/namespaces\/(?<namespace>[^/]+)\/pods\/(?<name>[^/]+)\/status/;
    return this.plane.audit().flatMap(({ verb, requestURI }) => {
      const { namespace, name } = (verb === 'patch' ? path.exec(requestURI)?.groups : undefined) ?? {};
      return name === undefined ? [] : [`${namespace}/${name}`];
    });
  }

  async sitter(pod: Pod): Promise<Sitter> {
    const { namespace = '', name = '', uid = '', annotations = {} } = pod.metadata ?? {};
    const hash = annotations['kubernetes.io/config.mirror'];
    return {
      namespace,
      name,
      uid: hash ?? uid,
      ip: pod.spec?.hostNetwork === true ? '' : (pod.status?.podIP ?? ''),
      status: pod.status,
      own: hash === undefined ? { [await this.#frontOf(namespace)]: '<front>' } : { [name]: '<name>' },
    };
  }

  /** The address of the service that pods get variables of. */
  async #frontOf(namespace: string): Promise<string> {
    const ask = ['get', 'service', 'front', `--namespace=${namespace}`, '--output=jsonpath={.spec.clusterIP}'];
    const known = this.#fronts.get(namespace) ?? (await this.plane.ask(...ask));
    this.#fronts.set(namespace, known);
    return known;
  }
}

function isSettled(pod: Pod): boolean {
  const { status } = pod;
  if (nameOf(pod).includes('/once-')) return status?.phase === 'Succeeded';
  const restarts = status?.containerStatuses?.[0]?.restartCount ?? 0;
  return nameOf(pod).endsWith('/crash') ? restarts > 0 : readyCondition(pod) === 'True';
}
