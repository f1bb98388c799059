import { test } from 'node:test';
import type { OpenStage, Stage } from './stage.ts';

export function story(open: OpenStage, name: string, play: (stage: Stage) => Promise<void>): void {
  void test(name, async () => {
    const stage = await open();
    try {
      await play(stage);
    } finally {
      await stage.close();
    }
  });
}
