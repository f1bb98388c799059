import { idle, podOf, shell } from '../../support/real-pods.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Ports of the pod `serve`: what is sent comes back; a few words come and the connection ends; nobody listens. */
export const ports = { echo: 8082, greeting: 8083, nobody: 8084 } as const;

/** What the container `count` of the pod `talk` says, the fourth line on the other output. */
export const countedLines = ['line 1', 'line 2', 'line 3', 'line 4', 'line 5'];
// The pauses keep the order between the two outputs, and let a whole second tell what is before and what is behind.
const count = 'echo line 1; echo line 2; echo line 3; sleep 2; echo line 4 >&2; sleep 1; echo line 5';

export const flood = { portions: 30, portion: 500, perSecond: 5 } as const;
/** More than a megabyte in six seconds, as soon as it is told to. */
const writer = `
function now(  line) { getline line < "/proc/uptime"; close("/proc/uptime"); split(line, parts, " "); return parts[1] }
BEGIN {
  due = now()
  for (done = 0; done < ${flood.portions}; done++) {
    due += 1 / ${flood.perSecond}
    while (now() < due) system("usleep 5000")
    for (k = 0; k < ${flood.portion}; k++) printf "%08d abcdefghijklmnopqrstuvwxyzabcdefghijkl\\n", n++
    fflush()
  }
  print "the end"
}`;

/** Waits until somebody makes this file in the container. */
export const goFile = '/tmp/go';
const whenTold = `until [ -e ${goFile} ]; do sleep 0.1; done`;

/** Everything that kubectl is tried on. */
export function podsOf(image: string): readonly object[] {
  const pod = (name: string, containers: readonly Fields[], spec: Fields = {}): object =>
    podOf(name, {
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers,
      ...spec,
    });
  const main = (script: string, more: Fields = {}): Fields => shell('main', image, script, more);
  const volumeMounts = [{ name: 'memory', mountPath: '/memory' }];
  const listeners = [`nc -ll -p ${ports.echo} -e cat &`, `nc -ll -p ${ports.greeting} -e echo hello there &`];
  return [
    pod('talk', [shell('count', image, `${count}; ${idle}`), shell('other', image, `echo other; ${idle}`)]),
    pod(
      'again',
      [main(`if [ -e /memory/was ]; then echo second; ${idle}; fi; >/memory/was; echo first`, { volumeMounts })],
      {
        volumes: [{ name: 'memory', emptyDir: {} }],
      },
    ),
    pod('flood', [main(`echo ready; ${whenTold}; awk '${writer}'; ${idle}`)]),
    pod('brief', [main(`echo ready; ${whenTold}; echo last; printf unfinished`)], { restartPolicy: 'Never' }),
    pod('waits', [{ name: 'main', image: 'localhost/tubelet/none:1', imagePullPolicy: 'Never' }]),
    pod('serve', [
      main(`${listeners.join(' ')} ${idle}`, {
        readinessProbe: { tcpSocket: { port: ports.echo }, periodSeconds: 1 },
      }),
    ]),
    pod(
      'reads',
      [
        shell('lines', image, 'while read line; do echo "got $line"; done', { stdin: true }),
        shell('sums', image, 'sha256sum', { stdin: true, stdinOnce: true }),
      ],
      { restartPolicy: 'Never' },
    ),
  ];
}

export function staticPod(image: string): object {
  return podOf('fixed', {
    terminationGracePeriodSeconds: 1,
    containers: [shell('main', image, `echo from a file; ${idle}`)],
  });
}
