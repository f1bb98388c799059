import { readdirSync, readFileSync } from 'node:fs';
import { loadSettings } from '../../config/index.ts';
import type { Command } from '../command.ts';

/** The node agent: kubelet flags in, a running node out. */
export function kubelet(version: string): Command {
  return async (args, io) => {
    const loaded = loadSettings({
      argv: args,
      version,
      cwd: process.cwd(),
      readFile: (path) => readFileSync(path, 'utf8'),
      listDir: (path) =>
        readdirSync(path, { withFileTypes: true }).map((entry) => ({
          name: entry.name,
          isDirectory: entry.isDirectory(),
        })),
    });
    switch (loaded.kind) {
      case 'help':
      case 'version':
        io.stdout(loaded.text);
        return 0;
      case 'error':
        for (const message of loaded.messages) io.stderr(`Error: ${message}\n`);
        return loaded.exitCode;
      case 'run': {
        const { runAgent } = await import('../run-agent.ts');
        return runAgent(loaded.settings, loaded.warnings, io);
      }
      default:
        return loaded satisfies never;
    }
  };
}
