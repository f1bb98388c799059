import { readdirSync, readFileSync } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import {
  assess,
  decodeFile,
  describeOrigin,
  fileLayer,
  isNotActedOn,
  loadSettings,
  renderFault,
  renderYaml,
  toV1beta1,
  type ConfigFiles,
  type JsonObject,
  type Settings,
} from '../../config/index.ts';
import type { Command, CommandIo } from '../command.ts';

const usage = `Usage:
  tubelet config check FILE...                   find faults in configuration files
  tubelet config show [-o yaml|json] [FLAGS...]  print what the agent would run with, given these flags
`;

const diskFiles: ConfigFiles = {
  readFile: (path) => readFileSync(path, 'utf8'),
  listDir: (path) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() })),
};

export const configCommand: Command = async (args, io) => {
  const [verb, ...rest] = args;
  if (verb === 'check' && rest.length > 0 && !rest.some((word) => word.startsWith('-'))) return checkFiles(rest, io);
  if (verb === 'show') return show(rest, io);
  if (verb === 'help' || verb === '--help' || verb === '-h') {
    io.stdout(usage);
    return 0;
  }
  return misused(io);
};

function misused(io: CommandIo): number {
  io.stderr(usage);
  return 2;
}

function checkFiles(paths: readonly string[], io: CommandIo): number {
  let faulty = 0;
  for (const path of paths) {
    const faults = faultsOf(path);
    if (faults.length > 0) faulty++;
    else io.stdout(`${path}: ok\n`);
    for (const fault of faults) io.stderr(`${fault}\n`);
  }
  return faulty > 0 ? 1 : 0;
}

/** All faults of one file; what the agent only warns about, a check rejects. */
function faultsOf(path: string): readonly string[] {
  let text: string;
  try {
    text = diskFiles.readFile(path);
  } catch (error) {
    return [`${path}: cannot be read: ${messageOf(error)}`];
  }
  const decoded = decodeFile(text, path, 'file');
  const found = [...decoded.warnings, ...decoded.faults];
  // Fields that could not be read have no value to validate; the others do.
  const assessed = decoded.faults.length > 0 ? [] : assess(fileLayer(decoded.tree, path)).faults;
  return [...found, ...assessed].map((fault) => {
    const line = renderFault(fault);
    // A fault among defaults has no line of its own, but still belongs to the file.
    return line.startsWith(`${path}:`) ? line : `${path}: ${line}`;
  });
}

function show(args: readonly string[], io: CommandIo): number {
  const { format, argv } = splitFormat(args);
  if (format !== 'yaml' && format !== 'json') return misused(io);
  const result = loadSettings({ argv, version: '', cwd: process.cwd(), ...diskFiles });
  if (result.kind === 'error') {
    for (const message of result.messages) io.stderr(`${message}\n`);
    return result.exitCode;
  }
  if (result.kind === 'help') {
    io.stdout(usage);
    return 0;
  }
  if (result.kind === 'version') return misused(io);
  for (const warning of result.warnings) io.stderr(`warning: ${warning}\n`);
  io.stdout(format === 'json' ? asJson(result.settings) : asYaml(result.settings));
  return 0;
}

/** Takes `-o FORMAT` out of the flags; no flag of the agent has that letter. */
function splitFormat(args: readonly string[]): { readonly format: string; readonly argv: readonly string[] } {
  const at = args.findIndex((word) => word.startsWith('-o'));
  const word = args[at];
  if (word === undefined) return { format: 'yaml', argv: args };
  const attached = word.slice(2).replace(/^=/, '');
  const format = attached === '' ? (args[at + 1] ?? '') : attached;
  return { format, argv: [...args.slice(0, at), ...args.slice(at + (attached === '' ? 2 : 1))] };
}

function asJson({ config }: Settings): string {
  return `${JSON.stringify({ kubeletconfig: masked(toV1beta1(config)) }, undefined, 2)}\n`;
}

function asYaml({ config, provenance }: Settings): string {
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  return (
    head +
    renderYaml(masked(toV1beta1(config)), (path) => {
      const origin = describeOrigin(provenance.of(path));
      return isNotActedOn(path) ? `${origin}; not acted on yet` : origin;
    })
  );
}

/** Headers for the manifest URL carry credentials. */
function masked(config: JsonObject): JsonObject {
  const headers = config['staticPodURLHeader'];
  if (headers === undefined || headers === null) return config;
  const hidden = Object.fromEntries(Object.keys(headers).map((name) => [name, ['<masked>']]));
  return { ...config, staticPodURLHeader: hidden };
}
