import { nearest } from '../../base/nearest.ts';
import type { Command } from '../command.ts';

const overview = `tubelet runs pods on this machine: as a node of a Kubernetes cluster, or all by itself.

  tubelet up                 make this machine a node of its own and run the pods of a folder
  tubelet down               stop and remove everything that 'up' made
  tubelet shutdown           end the pods of this node in order, before the machine goes down
  tubelet config check FILE  check kubelet configuration files without starting anything
  tubelet config show        the effective configuration, and where each value comes from
  tubelet --help             the flags of the node agent, the same as the kubelet's
  tubelet --version          the version

With flags and no subcommand it is the node agent itself, a drop-in for the kubelet.
`;

export const help: Command = async (_args, io) => {
  io.stdout(overview);
  return 0;
};

export function unknownCommand(word: string, known: readonly string[]): Command {
  return async (_args, io) => {
    const guess = nearest(word, known);
    io.stderr(`unknown command "${word}"${guess === undefined ? '' : `, did you mean "${guess}"?`}\n\n${overview}`);
    return 1;
  };
}
