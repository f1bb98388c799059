import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AgentWorld } from '../support/agent-world.ts';

const folder = '/var/lib/kubelet/pods/stranger';
const volume = `${folder}/volumes/example.com~odd/data`;

interface Node {
  readonly it: AgentWorld;
  /** Removed, not removed, and of how many something is left. */
  readonly figures: () => readonly (string | undefined)[];
}

/** A node on which an earlier agent left the directory of a pod, with a volume of a kind that nobody knows. */
async function leftBehind(): Promise<Node> {
  const it = new AgentWorld();
  await it.files.makeFolder(volume, 0o750);
  await it.files.writeFile(`${folder}/etc-hosts`, 'hosts', 0o644);
  const names = [
    'kubelet_orphan_pod_cleaned_volumes',
    'kubelet_orphan_pod_cleaned_volumes_errors',
    'tubelet_stuck_pods',
  ];
  const figure = (name: string): string | undefined =>
    new RegExp(`^${name} (.*)$`, 'm').exec(it.agent.registry.render())?.[1];
  return { it, figures: () => names.map(figure) };
}

const told = ({ log }: AgentWorld): readonly string[] =>
  [...log.messages('error'), ...log.messages('info')].filter((message) => message.includes('pod'));

const once = ['Cannot remove what is left of a pod, will try again', 'Removing orphaned pod directory'];

describe('the directory of a pod that nobody knows', () => {
  test('stays while something is mounted in it; that is told once, not at every try', async () => {
    const { it, figures } = await leftBehind();
    it.files.mounts.set(volume, ['bind /on/elsewhere']);
    await it.files.makeFolder('/on/elsewhere', 0o755);
    await it.files.writeFile('/on/elsewhere/precious', 'x', 0o600);
    await it.start();
    await it.clock.advance(600_000);
    assert.equal(it.files.has('/on/elsewhere/precious'), true);
    assert.equal(it.files.has(`${folder}/etc-hosts`), true, 'nothing of it goes before all of it can');
    assert.deepEqual(told(it), once);
    const [entry] = it.log.entries.filter(({ severity }) => severity === 'error');
    assert.match(String(entry?.error), /volumes are left: .*example.com~odd\/data is still mounted/);
    assert.deepEqual(figures(), ['0', '1', '1']);

    it.files.mounts.delete(volume);
    await it.clock.advance(31_000);
    assert.equal(it.files.has(folder), false);
    assert.equal(it.files.has('/on/elsewhere/precious'), true);
    await it.clock.advance(31_000);
    assert.deepEqual(figures().slice(1), ['0', '0']);
    assert.deepEqual(told(it), once);
    await it.stop();
  });

  test('stays while a volume that is not mounted holds anything: it may have been written there by mistake', async () => {
    const { it } = await leftBehind();
    await it.files.writeFile(`${volume}/precious`, 'x', 0o600);
    await it.start();
    await it.clock.advance(600_000);
    assert.equal(it.files.has(`${volume}/precious`), true);
    assert.deepEqual(told(it), once);
    it.files.forget(`${volume}/precious`);
    await it.clock.advance(31_000);
    assert.equal(it.files.has(folder), false);
    await it.stop();
  });

  test('is told of again when the reason is another', async () => {
    const { it } = await leftBehind();
    it.files.mounts.set(volume, ['tmpfs']);
    await it.start();
    await it.clock.advance(120_000);
    it.files.mounts.delete(volume);
    await it.files.writeFile(`${volume}/found-below-the-mount`, 'x', 0o600);
    await it.clock.advance(120_000);
    assert.equal(it.log.messages('error').length, 2);
    await it.stop();
  });
});
