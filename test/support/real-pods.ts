/** Ends at once when it is asked to, which the first process of a container does not do by itself. */
const idle = 'trap "exit 0" TERM; while true; do sleep 1000 & wait $!; done';

/** A pod that serves nothing and ends quickly. */
export function idlePod(name: string, image: string, containers: readonly string[] = ['main'], init?: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 5,
      ...(init !== undefined && {
        initContainers: [{ name: 'prepare', image, command: ['sh', '-c', init] }],
      }),
      containers: containers.map((container) => ({ name: container, image, command: ['sh', '-c', idle] })),
    },
  };
}
