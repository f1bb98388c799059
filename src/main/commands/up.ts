import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { describeError, isKind } from '../../base/errors.ts';
import { systemClock } from '../../base/system-clock.ts';
import { podRow, PodView, StepPrinter } from '../../console/index.ts';
import {
  canonicalRoot,
  instanceNames,
  prepareMachine,
  readyWord,
  runCommand,
  runNode,
  startInBackground,
  type PodDisplay,
  type UpDeps,
  type UpOptions,
} from '../../up/index.ts';
import type { Command, CommandIo } from '../command.ts';
import { parseOptions } from './up-options.ts';
import { screenOf, upLog } from './up-terminal.ts';

const usage = `Usage: tubelet up [flags]

Makes this machine a node of its own: a private container runtime, a pod network, starter images and the agent, with a
folder of pod manifests to play with. Ctrl-C stops it and removes everything but your own manifests.

  --root DIR                          where everything is kept (default /var/lib/tubelet)
  --manifests DIR                     folder of pod manifests (default ROOT/manifests)
  --name NAME                         name of the node (default the host name)
  --container-runtime-endpoint ADDR   use this runtime instead of a private one; no network, images or sample are made
  --detach                            leave it running in the background; 'tubelet down' stops it
  --help                              this text
`;

const spec = {
  root: 'value',
  manifests: 'value',
  name: 'value',
  'container-runtime-endpoint': 'value',
  detach: 'switch',
  // Passed to the process that --detach starts, so that it does not detach again.
  background: 'switch',
  help: 'switch',
} as const;

export const up: Command = async (args, io) => {
  const parsed = parseOptions(args, spec);
  if (parsed.faults.length > 0) {
    io.stderr(`${parsed.faults.join('\n')}\n\n${usage}`);
    return 2;
  }
  const { values } = parsed;
  if (values.help === true) {
    io.stdout(usage);
    return 0;
  }
  const options: UpOptions = {
    root: values.root ?? '/var/lib/tubelet',
    manifests: values.manifests === undefined ? undefined : resolve(values.manifests),
    nodeName: (values.name ?? hostname()).toLowerCase(),
    endpoint: endpointOf(values['container-runtime-endpoint']),
  };
  const deps = upDeps(io);
  try {
    const problems = await prepareMachine(options, deps);
    for (const problem of problems) io.stderr(`tubelet up: ${problem.what}\n  what to do: ${problem.remedy}\n`);
    if (problems.length > 0) return 1;
    if (values.detach === true && values.background !== true) await detach(options, deps, io);
    else await runNode(options, deps, podDisplay(io, deps), io.signal);
    return 0;
  } catch (error) {
    if (io.signal.aborted && (isKind(error, 'cancelled') || error === io.signal.reason)) return 0;
    io.stderr(`tubelet up: ${describeError(error)}\n`);
    return 1;
  }
};

async function detach(options: UpOptions, deps: UpDeps, io: CommandIo): Promise<void> {
  const { upLog: logFile, root } = instanceNames(canonicalRoot(options.root));
  const flags = [`--root=${root}`, `--name=${options.nodeName}`, '--background'];
  if (options.manifests !== undefined) flags.push(`--manifests=${options.manifests}`);
  if (options.endpoint !== undefined) flags.push(`--container-runtime-endpoint=${options.endpoint}`);
  const command = { program: deps.self.program, args: [...deps.self.args, 'up', ...flags] };
  io.stdout(`starting in the background; log: ${logFile}\n`);
  await startInBackground(command, logFile, readyWord, { clock: deps.clock, write: io.stdout }, io.signal);
  io.stdout(`running in the background; log: ${logFile}; stop it with: tubelet down --root ${root}\n`);
}

/** A bare path means a unix socket. */
function endpointOf(text: string | undefined): string | undefined {
  return text?.startsWith('/') === true ? `unix://${text}` : text;
}

function upDeps(io: CommandIo): UpDeps {
  const clock = systemClock();
  return {
    log: upLog(io),
    clock,
    run: runCommand,
    steps: new StepPrinter(screenOf(io), clock),
    self: { program: process.execPath, args: [...process.execArgv, resolve(process.argv[1] ?? 'dist/tubelet.mjs')] },
  };
}

function podDisplay(io: CommandIo, { clock }: UpDeps): PodDisplay {
  const view = new PodView(screenOf(io));
  return {
    show: (pods, footer) =>
      view.show(
        pods.map((pod) => podRow(pod, clock.now())),
        footer,
      ),
    say: (line) => view.say(line),
  };
}
