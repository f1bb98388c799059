import { resolve } from 'node:path';
import { Masked } from '../../base/masked.ts';
import type { ExecPlugin } from './access.ts';
import type { Section } from './section.ts';

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

/** `exec` of a user: a program that provides credentials. */
export function readExec(user: Section, folder: string): ExecPlugin | undefined {
  const exec = user.section('exec');
  if (exec === undefined) return undefined;
  const apiVersion = versions.find((version) => version === exec.text('apiVersion'));
  if (apiVersion === undefined) exec.problem(`must be ${versions.join(' or ')}`, 'apiVersion');
  const command = exec.text('command');
  if (command === undefined) exec.problem('missing; it is the program to run', 'command');
  const mode = exec.text('interactiveMode');
  if (mode === 'Always') exec.problem('Always cannot work: an agent has no user to ask; use Never', 'interactiveMode');
  else if (mode === undefined ? apiVersion === versions[0] : mode !== 'Never' && mode !== 'IfAvailable') {
    exec.problem('must be Never or IfAvailable', 'interactiveMode');
  }
  const args = exec.list('args').flatMap((value, index) => {
    if (typeof value === 'string') return [value];
    exec.problem('expected text; put it in quotes', 'args', index);
    return [];
  });
  const env = exec.sections('env').flatMap((entry) => {
    const name = entry.text('name');
    if (name === undefined) entry.problem('missing', 'name');
    return name === undefined ? [] : [[name, entry.text('value') ?? ''] as const];
  });
  if (apiVersion === undefined || command === undefined) return undefined;
  const installHint = exec.text('installHint');
  return {
    apiVersion,
    // A name alone is searched in PATH; anything with a slash is a file beside the kubeconfig.
    command: command.includes('/') ? resolve(folder, command) : command,
    args,
    env: new Masked(Object.fromEntries(env)),
    provideClusterInfo: exec.flag('provideClusterInfo'),
    ...(installHint !== undefined && { installHint }),
  };
}
