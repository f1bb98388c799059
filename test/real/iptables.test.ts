import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { nodePrograms } from '../../src/host/index.ts';
import { IptablesChains } from '../../src/setup/index.ts';
import { commonPorts } from '../../src/testing/common-ports.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { RealNode } from '../support/real-node.ts';
import { Program, tubelet } from '../support/real-program.ts';
import { until } from '../support/real-wait.ts';

type Tables = Readonly<Record<'IPv4' | 'IPv6', readonly string[]>>;

/** What a Go kubelet left in a network of its own; the order of tables is iptables-save's. */
const recorded = JSON.parse(readFileSync('test/golden/iptables/kubelet.json', 'utf8')) as { readonly tables: Tables };

/** A network of its own: chains here are those of the test alone. */
class Network {
  readonly #name: string;

  constructor(name: string) {
    this.#name = `tubelet-${process.pid}-${name}`;
    execFileSync('ip', ['netns', 'add', this.#name]);
  }

  /** Begins a command line of a program that runs there; its mounts stay those of the machine. */
  get prefix(): readonly [string, string] {
    return ['nsenter', `--net=/run/netns/${this.#name}`];
  }

  run(...words: readonly string[]): string {
    const [program, ...args] = [...this.prefix, ...words];
    return execFileSync(program ?? '', args, { encoding: 'utf8' });
  }

  tables(): Tables {
    return { IPv4: rulesIn(this.run('iptables-save')), IPv6: rulesIn(this.run('ip6tables-save')) };
  }

  remove(): void {
    execFileSync('ip', ['netns', 'delete', this.#name]);
  }
}

const rulesIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** By table, each with its lines in order. */
function byTable(lines: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const tables: Record<string, string[]> = {};
  let table: string[] = [];
  for (const line of lines) {
    if (line.startsWith('*')) tables[line] = table = [];
    else table.push(line);
  }
  return tables;
}

function assertRecorded(tables: Tables): void {
  for (const family of ['IPv4', 'IPv6'] as const) {
    assert.deepEqual(byTable(tables[family]), byTable(recorded.tables[family]), family);
  }
}

describe('chains of iptables in a network of its own', () => {
  let node: RealNode;
  before(async () => {
    node = await RealNode.start('iptables');
  });
  after(() => node?.destroy());

  test('the agent makes what a Go kubelet makes, and a second start adds nothing', async () => {
    const network = new Network('agent');
    try {
      for (const _ of ['first', 'second']) {
        const agent = new Program([...network.prefix, tubelet, ...node.flags, '--make-iptables-util-chains=true']);
        try {
          await agent.said(/Initialized iptables rules.*IPv4/);
          await agent.said(/Initialized iptables rules.*IPv6/);
          await agent.said(/Component started.*iptables-chains/);
        } finally {
          await agent.end();
        }
        assertRecorded(network.tables());
      }
    } finally {
      network.remove();
    }
  });

  test('a flush is noticed within a minute, and all comes back', async () => {
    const network = new Network('flush');
    const [clock, log] = [new FakeClock(), new MemoryLog()];
    const [enter, where] = network.prefix;
    const programs = {
      run: (program: string, args: readonly string[]) => nodePrograms.run(enter, [where, program, ...args]),
    };
    const chains = new IptablesChains({ ...commonPorts({ clock, log }), programs });
    try {
      await chains.start();
      assertRecorded(network.tables());
      for (const table of ['mangle', 'nat', 'filter']) {
        network.run('iptables', '-F', '-t', table);
        network.run('iptables', '-X', '-t', table);
      }
      await clock.advance(61_000);
      const isBack = async (): Promise<boolean> => network.tables().IPv4.length === recorded.tables.IPv4.length;
      await until('the chains are back', isBack, { state: () => log.messages() });
      assertRecorded(network.tables());
      assert.ok(log.messages().includes('Reloading after iptables flush'));
    } finally {
      await chains.stop();
      network.remove();
    }
  });
});
