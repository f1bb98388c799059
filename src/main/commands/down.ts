import { describeError } from '../../base/errors.ts';
import { systemClock } from '../../base/system-clock.ts';
import { StepPrinter } from '../../console/index.ts';
import { runCommand, stopGraceSeconds, takeDown } from '../../up/index.ts';
import type { Command } from '../command.ts';
import { parseOptions } from './up-options.ts';
import { screenOf, upLog } from './up-terminal.ts';

const usage = `Usage: tubelet down [flags]

Stops what 'tubelet up' started and removes everything it made, whatever state it is in. Your own manifests stay.

  --root DIR   the folder that was given to 'tubelet up' (default /var/lib/tubelet)
  --help       this text
`;

export const down: Command = async (args, io) => {
  const { values, faults } = parseOptions(args, { root: 'value', help: 'switch' });
  if (faults.length > 0) {
    io.stderr(`${faults.join('\n')}\n\n${usage}`);
    return 2;
  }
  if (values.help === true) {
    io.stdout(usage);
    return 0;
  }
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    io.stderr(
      'tubelet down: not root on Linux\n  what to do: run it again as root, for example: sudo npx tubelet down\n',
    );
    return 1;
  }
  const clock = systemClock();
  const root = values.root ?? '/var/lib/tubelet';
  const steps = new StepPrinter(screenOf(io), clock);
  try {
    const result = await takeDown(root, stopGraceSeconds, steps, { log: upLog(io), clock, run: runCommand });
    if (!result.found) steps.note(`nothing of tubelet is in ${root}`);
    if (result.keptManifests !== undefined) steps.note(`your manifests stay in ${result.keptManifests}`);
    return 0;
  } catch (error) {
    io.stderr(`tubelet down: ${describeError(error)}\n`);
    return 1;
  }
};
