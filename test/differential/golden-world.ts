import { isDeepStrictEqual } from 'node:util';
import type { ApiTransport } from '../../src/apiserver/index.ts';
import type { Event, Pod, PodStatus } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import type { FakeClock } from '../../src/testing/fake-clock.ts';
import type { FakeCri } from '../../src/testing/fake-cri/index.ts';
import type { GoldenRecord } from '../../src/testing/golden.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { manifestFolder } from '../support/agent-settings.ts';
import { fakeMachine } from '../support/fake-platform.ts';
import { WholeAgent } from '../support/whole-agent.ts';
import { boundPod, stageCluster } from './golden-cluster.ts';
import { scriptOf } from './programs.ts';
import { inRealWords, namesOf, type RecordedNames } from './recorded-names.ts';
import { recordedFlags, recordedHost, recordedPodHost } from './recorded-node.ts';
import { stageRuntime } from './stage-runtime.ts';

const manifestPath = `${manifestFolder}/pod.json`;

/**
 * The whole agent on the node of the recording, with one pod: on virtual time, with a scripted runtime, a disk in memory
 * and an API server. What is compared is read at these edges.
 */
export class GoldenWorld {
  readonly names: RecordedNames;
  /** What the status of the pod at the API server became after each other. */
  readonly statuses: PodStatus[] = [];
  readonly #record: GoldenRecord;
  readonly #agent: WholeAgent;
  #status: PodStatus | undefined;

  constructor(record: GoldenRecord) {
    this.#record = record;
    this.names = namesOf(record);
    const files = new MemoryFiles();
    const machine = fakeMachine({ cluster: true, files, runtime: { logs: files } });
    const script = scriptOf(record);
    this.#agent = new WholeAgent({
      machine,
      nodeName: this.names.node,
      flags: recordedFlags(this.names),
      overrides: () => ({
        host: recordedHost(machine, this.names),
        podHost: recordedPodHost(machine, script),
        apiWire: (server) => this.#watched(server),
      }),
    });
    stageRuntime({ clock: machine.clock, cri: machine.cri, files, record, script });
    stageCluster(this.#agent.api, this.names);
    void files.makeFolder('/etc/apt', 0o755);
    files.append('/etc/hosts', '127.0.0.1\tlocalhost\n');
  }

  get clock(): FakeClock {
    return this.#agent.clock;
  }

  get cri(): FakeCri {
    return this.#agent.machine.cri;
  }

  get files(): MemoryFiles {
    return this.#agent.machine.files;
  }

  start(): Promise<void> {
    return this.#agent.start();
  }

  stop(): Promise<void> {
    return this.#agent.stop();
  }

  /** Makes the pod as it was made when it was recorded: in the cluster, or as a manifest in the folder. */
  makePod(): void {
    const { manifest, source } = this.#record;
    if (source === 'file') {
      this.#agent.machine.manifests.put(manifestPath, JSON.stringify(inRealWords(manifest, this.names)));
    } else {
      this.#agent.api.objects.put<Pod>(boundPod(this.#record, this.names));
      this.#noteStatus();
    }
  }

  deletePod(): void {
    if (this.#record.source === 'file') this.#agent.machine.manifests.remove(manifestPath);
    else this.#agent.api.objects.remove(apiResources.pods, this.#ref);
  }

  /** The pod as the API server has it; of a static pod its mirror. */
  pod(): Pod | undefined {
    return this.#agent.api.objects.find<Pod>(apiResources.pods, this.#ref);
  }

  /** Events about the pod, in the order in which they were created at the API server. */
  events(): readonly PodEvent[] {
    const created = this.#agent.api.requests({ verb: 'create', resource: 'events' });
    return created
      .map(({ body }) => body as Event)
      .filter(({ involvedObject }) => involvedObject.kind === 'Pod')
      .map(({ type, reason = '', message = '', involvedObject: { fieldPath } }) => ({
        type: type === 'Warning' ? 'Warning' : 'Normal',
        reason,
        message,
        ...(fieldPath !== undefined && { fieldPath }),
      }));
  }

  get #ref(): { readonly namespace: string; readonly name: string } {
    const { manifest, source } = this.#record;
    const name = manifest.metadata?.name ?? '';
    return { namespace: this.names.namespace, name: source === 'file' ? `${name}-${this.names.node}` : name };
  }

  /** The status is looked at after each request: nobody but the agent changes it. */
  #watched(server: ApiTransport): ApiTransport {
    return {
      send: async (request) => {
        const answer = await server.send(request);
        this.#noteStatus();
        return answer;
      },
      reset: () => server.reset(),
      close: () => server.close(),
    };
  }

  /** The first status is what the API server itself says of a new pod. */
  #noteStatus(): void {
    const { status } = this.pod() ?? {};
    if (status === undefined || isDeepStrictEqual(status, this.#status)) return;
    if (this.#status !== undefined) this.statuses.push(status);
    this.#status = status;
  }
}
