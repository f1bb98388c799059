import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Event, Pod } from '../../../src/gen/kubernetes/types.ts';
import { readyCondition } from '../../support/real-node.ts';
import { until } from '../../support/real-wait.ts';
import type { ControlPlane } from './control-plane.ts';

const answerMs = 30_000;
/** Many pods at once on a machine that others use too. */
const patienceMs = 120_000;

/** A row of the table of events that `kubectl describe` prints. */
interface DescribedEvent {
  readonly type: string;
  readonly reason: string;
  /** With the number of times in brackets, when it was more than one. */
  readonly age: string;
  readonly from: string;
  readonly message: string;
}

/** What the administrator sees. Looks without starting a kubectl each time, since tests look often. */
export class ClusterView {
  readonly plane: ControlPlane;
  readonly #agent: Agent;

  constructor(plane: ControlPlane) {
    this.plane = plane;
    const { users } = JSON.parse(readFileSync(plane.adminKubeconfig, 'utf8')) as {
      readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
    };
    const pem = (field: string): Buffer => Buffer.from(users[0]?.user[field] ?? '', 'base64');
    const [cert, key] = [pem('client-certificate-data'), pem('client-key-data')];
    this.#agent = new Agent({ keepAlive: true, ca: plane.authority.pem, cert, key });
  }

  /** The object at a path of the API; nothing when it is not there. */
  get<T>(path: string): Promise<T | undefined> {
    return this.#ask<T>('GET', path);
  }

  /** Merges a patch into an object; answers when the API server does. */
  async patch(path: string, patch: object): Promise<void> {
    const answer = await this.#ask('PATCH', path, JSON.stringify(patch));
    if (answer === undefined) throw new Error(`${path} is not there`);
  }

  #ask<T>(method: string, path: string, sent?: string): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const headers = sent === undefined ? {} : { 'content-type': 'application/merge-patch+json' };
      const options = { method, headers, agent: this.#agent, signal: AbortSignal.timeout(answerMs) };
      const outgoing = request(`${this.plane.url}${path}`, options, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('error', reject).on('end', () => {
          if (response.statusCode === 200) resolve(JSON.parse(body) as T);
          else if (response.statusCode === 404) resolve(undefined);
          else reject(new Error(`${path}: ${response.statusCode} ${body}`));
        });
      });
      outgoing.on('error', reject).end(sent);
    });
  }

  /** A new namespace in which pods can be created. */
  async namespace(name: string): Promise<Namespace> {
    await this.plane.ask('create', 'namespace', name);
    for (const object of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
      const path = `/api/v1/namespaces/${name}/${object}`;
      await until(`namespace ${name} has ${object}`, () => this.get(path), { timeoutMs: patienceMs });
    }
    return new Namespace(this, name);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One namespace, so that tests that run side by side do not meet. */
export class Namespace {
  readonly name: string;
  readonly #view: ClusterView;

  constructor(view: ClusterView, name: string) {
    this.#view = view;
    this.name = name;
  }

  /** What kubectl prints here. */
  kubectl(...words: readonly string[]): Promise<string> {
    return this.#view.plane.ask(...words, `--namespace=${this.name}`);
  }

  /** What kubectl answers to objects of this namespace. */
  async apply(...objects: readonly object[]): Promise<string> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    const words = ['apply', `--namespace=${this.name}`, '--filename=-'];
    const { code, stdout, stderr } = await this.#view.plane.kubectl(words, JSON.stringify(list));
    if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
    return stdout;
  }

  /** An object of the core group, or of the group given. */
  get<T>(kinds: string, name: string, group = 'api/v1'): Promise<T | undefined> {
    return this.#view.get<T>(`/${group}/namespaces/${this.name}/${kinds}/${name}`);
  }

  pod(name: string): Promise<Pod | undefined> {
    return this.get<Pod>('pods', name);
  }

  /** All pods, or those with a label, by name. */
  async pods(label?: string): Promise<readonly Pod[]> {
    const selector = label === undefined ? '' : `?labelSelector=${encodeURIComponent(label)}`;
    const list = await this.#view.get<{ readonly items: readonly Pod[] }>(
      `/api/v1/namespaces/${this.name}/pods${selector}`,
    );
    return (list?.items ?? []).toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  }

  /** The pod once it is as wanted. */
  podWhen(name: string, what: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
    const look = async (): Promise<Pod | false> => {
      const pod = await this.pod(name);
      return pod !== undefined && isSo(pod) && pod;
    };
    const state = async (): Promise<unknown> => (await this.pod(name))?.status ?? 'no such pod';
    return until(`pod ${name} ${what}`, look, { timeoutMs: patienceMs, state });
  }

  podReady(name: string): Promise<Pod> {
    return this.podWhen(name, 'is ready', (pod) => readyCondition(pod) === 'True');
  }

  /** The pods of a label once they are as wanted. */
  podsWhen(label: string, what: string, isSo: (pods: readonly Pod[]) => boolean): Promise<readonly Pod[]> {
    const look = async (): Promise<readonly Pod[] | false> => {
      const pods = await this.pods(label);
      return isSo(pods) && pods;
    };
    const state = async (): Promise<unknown> =>
      (await this.pods(label)).map(({ metadata, status }) => ({ name: metadata?.name, ...status }));
    return until(`pods with ${label} ${what}`, look, { timeoutMs: patienceMs, state });
  }

  podGone(name: string): Promise<true> {
    const look = async (): Promise<boolean> => (await this.pod(name)) === undefined;
    return until(`pod ${name} is gone`, look, { timeoutMs: patienceMs, state: () => this.pod(name) }).then(() => true);
  }

  /** Events about a pod, in the order in which they first came. */
  async eventsOf(pod: string): Promise<readonly Event[]> {
    const selector = encodeURIComponent(`involvedObject.name=${pod}`);
    const path = `/api/v1/namespaces/${this.name}/events?fieldSelector=${selector}`;
    const { items = [] } = (await this.#view.get<{ readonly items: readonly Event[] }>(path)) ?? {};
    return items.toSorted((one, other) => (beganAt(one) < beganAt(other) ? -1 : 1));
  }

  /** The table at the end of `kubectl describe`. */
  async describedEvents(pod: string): Promise<readonly DescribedEvent[]> {
    const [, table = ''] = (await this.kubectl('describe', 'pod', pod)).split('\nEvents:');
    const rows = table.split('\n').filter((line) => line.startsWith('  '));
    return rows.slice(2).map((row) => {
      const [type = '', reason = '', age = '', from = '', ...message] = row.trim().split(/ {2,}/);
      return { type, reason, age, from, message: message.join('  ') };
    });
  }
}

/**
 * A pod may be here before the API server, which looks by a watch of its own, knows that its node may read for it. Any
 * agent is refused then, says so, and tries again: see `forbidden` in audit.ts.
 */
export function cameTooSoon({ message = '' }: { readonly message?: string }): boolean {
  return message.startsWith('MountVolume.SetUp failed for volume "kube-api-access-');
}

/** Nanoseconds: recorders end the name of an event with them, while the times in it are of whole seconds. */
function beganAt({ metadata }: Event): bigint {
  return BigInt(`0x${metadata.name?.split('.').at(-1) ?? '0'}`);
}

function nameOf({ metadata }: Pod): string {
  return metadata?.name ?? '';
}
