import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { containersOf, markScript, scriptFile, type PodPlan } from './plan.ts';
import { beatFile, shellScript } from './shell-program.ts';
import type { Mark } from './stage.ts';

const everybody = 0o777;

/** What answers `GET /cgi-bin/mark?word`: puts the word and who asked on the trail. */
const markProgram = [
  '#!/bin/sh',
  'word="$QUERY_STRING $HTTP_USER_AGENT"',
  markScript,
  String.raw`printf 'Content-Type: text/plain\r\n\r\nok\n'`,
  '',
].join('\n');

/** The folder that a pod and its stage share. What is written there outlives the pod; anybody in it may write. */
export class RealFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(join(path, 'cgi-bin'), { recursive: true });
    chmodSync(path, everybody);
    this.#write('trail', '');
    this.#write('cgi-bin/mark', markProgram);
  }

  /** Writes the scripts of the pod's programs. */
  prepare(plan: PodPlan): void {
    for (const container of containersOf(plan)) this.#write(scriptFile(container.name), shellScript(container));
  }

  turn(name: string, on: boolean): void {
    if (on) this.#write(name, '');
    else rmSync(join(this.path, name), { force: true });
  }

  /** Puts a word of the stage's own on the trail. */
  mark(word: string): void {
    const [up = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
    appendFileSync(join(this.path, 'trail'), `${up} ${word}\n`);
  }

  /** Who is killed cannot say so; what it noted last of its life does. `running` are those that still live. */
  trail(running: ReadonlySet<string>): readonly Mark[] {
    const written = readFileSync(join(this.path, 'trail'), 'utf8').split('\n').slice(0, -1).map(toMark);
    const beats = readdirSync(this.path).flatMap((file): readonly Mark[] => {
      const [, container = '', turn] = /^(.*)\.(\d+)\.beat$/.exec(file) ?? [];
      if (turn === undefined) return [];
      const isLatest = !existsSync(join(this.path, beatFile(container, Number(turn) + 1)));
      if (isLatest && running.has(container) && this.#starts(container) === Number(turn) + 1) return [];
      return [{ at: Number(readFileSync(join(this.path, file), 'utf8')), word: `${container} ends` }];
    });
    return [...written, ...beats].toSorted((one, other) => one.at - other.at);
  }

  #starts(container: string): number {
    return Number(readFileSync(join(this.path, `${container}.turn`), 'utf8'));
  }

  #write(name: string, text: string): void {
    const path = join(this.path, name);
    writeFileSync(path, text);
    chmodSync(path, everybody);
  }
}

function toMark(line: string): Mark {
  const [at = '', ...words] = line.split(' ');
  return { at: Number(at), word: words.join(' ') };
}
