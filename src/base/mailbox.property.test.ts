import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Mailbox } from './mailbox.ts';

type Step = 'put' | 'take' | 'abort' | 'turn';

test('however puts, takes and aborts interleave, every message comes out once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Step>('put', 'take', 'abort', 'turn'), { maxLength: 60 }),
      async (steps) => {
        const box = new Mailbox<number[]>((waiting, next) => [...waiting, ...next]);
        const seen: number[] = [];
        let sent = 0;
        let controller = new AbortController();
        let taking: Promise<void> | undefined;
        const take = () => {
          taking ??= box
            .take(controller.signal)
            .then((messages) => void seen.push(...messages))
            .catch((error: unknown) => assert.equal(error, controller.signal.reason))
            .finally(() => (taking = undefined));
        };
        for (const step of steps) {
          if (step === 'put') box.put([sent++]);
          if (step === 'take') take();
          if (step === 'turn') await new Promise(setImmediate);
          if (step === 'abort') {
            controller.abort(new Error('abort'));
            await taking;
            controller = new AbortController();
          }
        }
        box.put([sent++]);
        await taking;
        if (box.peek() !== undefined) {
          take();
          await taking;
        }
        assert.deepEqual(seen, [...Array(sent).keys()]);
      },
    ),
  );
});
