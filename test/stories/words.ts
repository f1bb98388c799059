import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { criLines, textOf } from './log-lines.ts';
import { chatterLine, container } from './plan.ts';
import { logLimits } from './settings.ts';
import { containerOf, isOver, isReady, type OpenStage } from './stage.ts';
import { story } from './story.ts';

/** What containers say: their last words, and their logs. */
export function wordStories(open: OpenStage): void {
  void describe('a container', { concurrency: true }, () => {
    story(open, 'leaves its last words in the file or the log, where it shall', async (stage) => {
      const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' };
      const pod = await stage.give({
        name: 'words',
        spec: { restartPolicy: 'Never' },
        containers: [
          container(
            'file',
            { runs: 0, exits: 1, leaves: 'all is lost' },
            { terminationMessagePath: '/dev/final-flush' },
          ),
          container('log', { runs: 0, exits: 2, prints: ['from the log'] }, fallback),
          container('both', { runs: 0, exits: 2, prints: ['from the log'], leaves: 'from the file' }, fallback),
          container('quiet', { runs: 0, exits: 2, prints: ['nobody asks'] }),
          container('fine', { runs: 0, prints: ['well'] }, fallback),
        ],
      });
      const now = await pod.when('is over', isOver);
      const wordsOf = (name: string): string | undefined => containerOf(now, name).state?.terminated?.message;
      assert.deepEqual(['file', 'log', 'both'].map(wordsOf), ['all is lost', 'from the log\n', 'from the file']);
      assert.deepEqual(['quiet', 'fine'].map(wordsOf), [undefined, undefined]);
    });

    // Longer than the runtime takes a line in one part, and short enough not to be rotated away.
    const long = 'x'.repeat(17_000);
    story(open, 'has its log line by line, long ones in parts, and a log for every instance', async (stage) => {
      const pod = await stage.give({
        name: 'log',
        containers: [
          container('main', [
            { runs: 0, prints: ['out', long], complains: ['err'], breaksOff: 'end' },
            { prints: ['again'] },
          ]),
        ],
      });
      await pod.when('runs again', (now) => containerOf(now).restartCount === 1 && isReady(now));
      const log = await pod.seen.log('main');
      assert.equal(textOf(log, 'stderr'), 'err\n');
      assert.equal(textOf(log, 'stdout').trimEnd(), `out\n${long}\nend`);
      assert.ok(log.some(({ partial }) => partial));
      // A program that has been started may not have come to its words.
      const again = async (): Promise<string> => textOf(await pod.seen.log('main', 1));
      for (let looks = 0; looks < 100 && (await again()) === ''; looks++) await stage.pass(0.2);
      assert.equal(await again(), 'again\n');
    });

    story(
      open,
      'that writes much keeps the end of it in few files of a limited size, none of it lost',
      async (stage) => {
        const [lines, times] = [300, 4];
        const pod = await stage.give({
          name: 'rotation',
          containers: [container('main', { chatters: { lines, times } })],
        });
        await pod.when('is ready', isReady);
        // Longer than any look at the log is away from the next.
        await stage.pass(times + logLimits.monitorIntervalMs / 1_000 + 2);
        const files = await pod.seen.logFiles('main');
        const names = [...files.keys()].toSorted();
        assert.equal(names.length, logLimits.maxFiles, names.join(' '));
        // The current one, the older ones compressed, the newest of the old as it was.
        assert.match(names.join(' '), /^0\.log 0\.log\.\d{8}-\d{6}(\.\d+)?\.gz 0\.log\.\d{8}-\d{6}(\.\d+)?$/);
        const [current = '', ...rotated] = names;
        const kept = [...rotated, current].flatMap((name) => criLines(files.get(name) ?? ''));
        const numbers = textOf(kept).split('\n').slice(0, -1);
        const first = Number(numbers[0]);
        assert.ok(numbers.length > lines / 2, `${numbers.length} lines`);
        assert.deepEqual(
          numbers,
          Array.from({ length: lines * times - first }, (_, index) => chatterLine(first + index)),
        );
        for (const [name, text] of files) assert.ok(text.length < 3 * lines * 130, `${name} has ${text.length}`);
      },
    );
  });
}
