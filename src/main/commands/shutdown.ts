import { readFileSync } from 'node:fs';
import { describeError } from '../../base/errors.ts';
import { systemClock } from '../../base/system-clock.ts';
import { systemRandom } from '../../base/system-random.ts';
import { shutdownFiles } from '../../host/index.ts';
import type { Command } from '../command.ts';
import { askAgent, type Asked } from './ask-agent.ts';
import { parseOptions } from './up-options.ts';

const usage = `Usage: tubelet shutdown [flags]

Has the agent of this machine end its pods in order before the machine goes down, as it does by itself where systemd
announces that: no new pods, the node is not ready, then pods by priority, each with the time of its group in the
configuration (shutdownGracePeriod, shutdownGracePeriodByPodPriority). Ends when the machine may go down.
The node stays like that until it is called off or the machine has been started again.

  --plan           only print who would end when, and with how much time
  --cancel         call it off: the node takes pods again, those that were ended stay ended
  --root-dir DIR   the agent's root folder (default /var/lib/kubelet)
  --help           this text
`;

const exitCodes: Readonly<Record<Asked['kind'], number>> = {
  done: 0,
  calledOff: 0,
  nothingToCallOff: 0,
  incomplete: 3,
  interrupted: 130,
  unanswered: 1,
  goesOn: 1,
};

export const shutdown: Command = async (args, io) => {
  const spec = { plan: 'switch', cancel: 'switch', 'root-dir': 'value', help: 'switch' } as const;
  const { values, faults } = parseOptions(args, spec);
  const both = values.plan === true && values.cancel === true;
  if (faults.length > 0 || both) {
    io.stderr(`${[...faults, ...(both ? ['--plan and --cancel exclude each other'] : [])].join('\n')}\n\n${usage}`);
    return 2;
  }
  if (values.help === true) {
    io.stdout(usage);
    return 0;
  }
  const rootDir = values['root-dir'] ?? '/var/lib/kubelet';
  try {
    const asked = await askAgent(values.plan === true ? 'plan' : values.cancel === true ? 'cancel' : 'shutdown', {
      files: shutdownFiles,
      clock: systemClock(),
      rootDir,
      id: systemRandom().hex(8),
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      onLine: (line) => io.stdout(`${line}\n`),
      signal: io.signal,
    });
    if (asked.message !== undefined) io.stderr(`tubelet shutdown: ${asked.message}\n`);
    return exitCodes[asked.kind];
  } catch (error) {
    io.stderr(`tubelet shutdown: ${describeError(error)}\n`);
    return 1;
  }
};
