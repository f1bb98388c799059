import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { container } from './plan.ts';
import { absentImage, unreachableImage } from './settings.ts';
import { containerOf, waitsFor, type OpenStage, type StagePod } from './stage.ts';
import { story } from './story.ts';

/** What a pod says when its image cannot be had. */
export function imageStories(open: OpenStage): void {
  void describe('a container without an image', { concurrency: true }, () => {
    const saysOf = async (pod: StagePod, reason: string): Promise<string | undefined> => {
      const now = await pod.when(`waits: ${reason}`, waitsFor(reason));
      assert.equal(now.status?.phase, 'Pending');
      assert.deepEqual(await pod.seen.containers(), []);
      return containerOf(now).state?.waiting?.message;
    };
    const imagePullPolicy = 'Never';

    story(open, 'that must not be pulled says so', async (stage) => {
      const pod = await stage.give({
        name: 'absent',
        containers: [container('main', {}, { image: absentImage, imagePullPolicy })],
      });
      const words = `Container image "${absentImage}" is not present with pull policy of Never`;
      assert.equal(await saysOf(pod, 'ErrImageNeverPull'), words);
      const events = pod.seen.events().map(({ type, reason, message }) => `${type} ${reason} ${message}`);
      assert.deepEqual(events.slice(0, 2), [
        `Warning ErrImageNeverPull ${words}`,
        'Warning Failed Error: ErrImageNeverPull',
      ]);
    });

    story(open, 'whose name is none says so', async (stage) => {
      const pod = await stage.give({ name: 'unnamed', containers: [container('main', {}, { image: 'Not A:Name' })] });
      assert.match((await saysOf(pod, 'InvalidImageName')) ?? '', /^Failed to apply default image tag "Not A:Name": /);
    });

    story(open, 'whose registry is unreachable says so, is held back, and tries again', async (stage) => {
      const { name } = unreachableImage;
      const pod = await stage.give({ name: 'unreachable', containers: [container('main', {}, { image: name })] });
      const waits = await saysOf(pod, 'ImagePullBackOff');
      // Some runtimes say that it is the registry, and a kubelet tells so.
      const refused = '(ErrImagePull|RegistryUnavailable): .*connection refused';
      assert.match(waits ?? '', new RegExp(`^Back-off pulling image "localhost:1/none:1": ${refused}`));
      // Each try is told of, too; the state that goes with it may be over before anybody looks. Whether the wait
      // between two tries is told of depends on whether something else had the pod looked at meanwhile.
      const told = (): readonly string[] =>
        pod.seen.events().map((event) => `${event.type} ${event.reason} ${event.message}`);
      const pulling = `Normal Pulling Pulling image "${name}"`;
      await pod.when('has tried again', () => told().filter((line) => line === pulling).length >= 2);
      const [first, why, failed] = told();
      assert.equal(first, pulling);
      assert.match(failed ?? '', /^Warning Failed Error: (ErrImagePull|RegistryUnavailable)$/);
      assert.match(why ?? '', /^Warning Failed Failed to pull image "localhost:1\/none:1": .*connection refused/);
      for (const line of [
        `Normal BackOff Back-off pulling image "${name}"`,
        'Warning Failed Error: ImagePullBackOff',
      ]) {
        assert.ok(told().includes(line), line);
      }
    });
  });
}
