import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeStarterImages } from '../../src/up/starter-images.ts';
import { runCommand } from '../../src/up/index.ts';
import type { Machine } from '../../tools/lib/machine-v2/machine.mjs';
import { clock, until } from '../support/real-wait.ts';

const root = process.cwd();
const port = 10_255;

/** A pod as the agent shows it. */
export interface ShownPod {
  readonly name: string;
  readonly phase: string;
  readonly reason: string | undefined;
  readonly ready: boolean;
  readonly containerId: string;
  readonly restarts: number;
}

interface PodPlan {
  readonly priority: number;
  readonly grace: number;
  /** What the container does when it is asked to end; it writes its life to /out. */
  readonly onTerm: string;
}

const containerdConfig = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/tubelet/pause:1"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
`;

function kubeletConfig(more: string): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: /etc/kubernetes/manifests
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: systemd
address: 127.0.0.1
readOnlyPort: ${port}
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
failSwapOn: false
${more}`;
}

/** The agent as a service of a machine, with the unit that is shipped and its own copy of the program on the machine's disk. */
export class ServiceNode {
  readonly #machine: Machine;

  private constructor(machine: Machine) {
    this.#machine = machine;
  }

  static async install(machine: Machine, { config, dropIn }: { config: string; dropIn: string }): Promise<ServiceNode> {
    const folder = join(machine.exchange, 'node');
    mkdirSync(folder, { recursive: true });
    const put = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
    put('containerd.toml', containerdConfig);
    put('config.yaml', kubeletConfig(config));
    put('drop-in.conf', dropIn);
    const images = await makeStarterImages((program, words) => runCommand(program, words));
    for (const [index, { archive }] of images.entries()) put(`image-${index}.tar`, archive);
    await machine.sh(
      `set -e
      mkdir -p /opt/tubelet/node_modules /etc/kubernetes/manifests /var/lib/kubelet /etc/containerd /out /var/log/journal
      cp -L /usr/local/bin/node /opt/node
      cp -r ${root}/bin ${root}/dist /opt/tubelet/
      cp -rL ${root}/node_modules/koffi ${root}/node_modules/@koromix /opt/tubelet/node_modules/
      ln -sf /opt/tubelet/bin/tubelet /usr/bin/kubelet
      cp -r ${root}/packaging/systemd/kubelet.service /etc/systemd/system/
      mkdir -p /etc/systemd/system/kubelet.service.d
      cp /exchange/node/drop-in.conf /etc/systemd/system/kubelet.service.d/50-test.conf
      cp /exchange/node/config.yaml /var/lib/kubelet/config.yaml
      cp /exchange/node/containerd.toml /etc/containerd/config.toml
      systemctl restart systemd-journald
      systemctl daemon-reload
      systemctl enable containerd kubelet
      systemctl restart containerd
      until ctr version >/dev/null 2>&1; do sleep 0.3; done
      for image in /exchange/node/image-*.tar; do ctr -n k8s.io images import "$image"; done
      systemctl start kubelet`,
      { timeoutMs: 300_000 },
    );
    return new ServiceNode(machine);
  }

  /** Puts a static pod into place that writes what happens to it into files of /out. */
  async addPod(name: string, { priority, grace, onTerm }: PodPlan): Promise<void> {
    const now = `read up rest </proc/uptime; echo "$up"`;
    const script = [
      `${now} >/out/${name}.began`,
      `trap '${now} >/out/${name}.asked; ${onTerm}' TERM`,
      `while :; do ${now} >/out/${name}.alive; sleep 0.2; done`,
    ].join('\n');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        hostNetwork: true,
        priority,
        terminationGracePeriodSeconds: grace,
        containers: [
          {
            name: 'main',
            image: 'localhost/tubelet/busybox:1',
            imagePullPolicy: 'Never',
            command: ['sh', '-c', script],
            volumeMounts: [{ name: 'out', mountPath: '/out' }],
          },
        ],
        volumes: [{ name: 'out', hostPath: { path: '/out' } }],
      },
    };
    writeFileSync(join(this.#machine.exchange, 'node', `${name}.json`), JSON.stringify(pod));
    await this.#machine.sh(`cp /exchange/node/${name}.json /etc/kubernetes/manifests/`);
  }

  /** Pods by name, as the agent shows them. */
  async pods(): Promise<ReadonlyMap<string, ShownPod>> {
    const ask = `fetch('http://127.0.0.1:${port}/pods').then((answer) => answer.text()).then(console.log)`;
    const { items } = JSON.parse(await this.#machine.sh(`/opt/node -e "${ask}"`)) as { items: ApiPod[] };
    return new Map(
      items.map(({ metadata, status }) => {
        const [own] = status.containerStatuses ?? [];
        const name = metadata.name.replace(/-[^-]+$/, '');
        return [
          name,
          {
            name,
            phase: status.phase,
            reason: status.reason,
            ready: own?.ready === true,
            containerId: own?.containerID ?? '',
            restarts: own?.restartCount ?? 0,
          },
        ];
      }),
    );
  }

  async allReady(...names: readonly string[]): Promise<ReadonlyMap<string, ShownPod>> {
    const ask = async () => {
      // The one processor of the machine has more to do than to tell.
      await clock.sleep(2_000);
      const pods = await this.pods();
      return names.every((name) => pods.get(name)?.ready === true) ? pods : undefined;
    };
    return until(`${names.join(', ')} are ready`, ask, { timeoutMs: 180_000, state: () => this.log() });
  }

  /** A moment that a pod wrote down, in seconds since the boot. */
  async moment(name: string, what: 'began' | 'asked' | 'alive'): Promise<number> {
    return Number(await this.#machine.sh(`cat /out/${name}.${what}`));
  }

  /** What the agent said, in the boot that many boots ago. */
  async log(boot = 0): Promise<string> {
    return this.#machine.sh(`journalctl -o cat -u kubelet -b ${boot} | tail -n 400`);
  }

  async property(name: string): Promise<string> {
    return (await this.#machine.sh(`systemctl show kubelet -p ${name} --value`)).trim();
  }
}

interface ApiPod {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly containerID: string;
      readonly restartCount: number;
    }[];
  };
}
