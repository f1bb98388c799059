import { idle, podOf, shell } from '../../support/real-pods.ts';

type Fields = Readonly<Record<string, unknown>>;

const mega = (amount: number): string => `${amount}Mi`;

/**
 * Pods of every QoS class, and those whose cgroups the Go kubelet computes by rules of their own. Limits are whole hundredths of
 * a CPU: systemd rounds others up whenever it writes the cgroup anew, and the Go kubelet leaves them so.
 */
export function qosPods(image: string): ReadonlyMap<string, object> {
  const container = (name: string, resources?: Fields, more: Fields = {}): Fields =>
    shell(name, image, idle, { imagePullPolicy: 'Never', ...(resources && { resources }), ...more });
  const specs: Readonly<Record<string, Fields>> = {
    guaranteed: { containers: [container('main', same({ cpu: '100m', memory: mega(64) }))] },
    burstable: {
      containers: [
        container('main', { requests: { cpu: '50m', memory: mega(32) }, limits: { cpu: '500m', memory: mega(128) } }),
      ],
    },
    requests: { containers: [container('main', { requests: { cpu: '150m', memory: mega(48) } })] },
    besteffort: { containers: [container('main')] },
    'half-limited': {
      containers: [container('limited', { limits: { cpu: '100m', memory: mega(40) } }), container('free')],
    },
    // The limit of the pod covers the sidecar and the container that runs beside it.
    sidecar: {
      initContainers: [
        container(
          'side',
          { requests: { cpu: '20m', memory: mega(16) }, limits: { cpu: '70m', memory: mega(32) } },
          { restartPolicy: 'Always' },
        ),
      ],
      containers: [container('main', { limits: { cpu: '60m', memory: mega(24) } })],
    },
    'pod-level': {
      resources: { requests: { cpu: '100m', memory: mega(64) }, limits: { cpu: '400m', memory: mega(96) } },
      containers: [container('one', { requests: { cpu: '40m', memory: mega(16) } }), container('two')],
    },
  };
  const common = { terminationGracePeriodSeconds: 2, hostNetwork: true };
  return new Map(
    Object.entries(specs).map(([name, spec], index) => {
      // Without a uid of its own, each kubelet computes another one from a manifest.
      const uid = `5f2b7c1e-0000-4000-8000-00000000000${index}`;
      return [name, podOf(name, { ...common, ...spec }, { uid })];
    }),
  );
}

const same = (amounts: Fields): Fields => ({ requests: amounts, limits: amounts });
