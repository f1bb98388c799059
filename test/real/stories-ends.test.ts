import { after, before, describe } from 'node:test';
import { graceStories, hookStories, wordStories } from '../stories/index.ts';
import { openRealStage, RealTheatre } from '../stories/real-stage.ts';

/** How containers end, and what they leave. */
let theatre: RealTheatre;
before(async () => {
  theatre = await RealTheatre.open('ends');
});
after(() => theatre?.close());

const open = openRealStage(() => theatre);

describe('on containerd', { concurrency: true }, () => {
  hookStories(open);
  graceStories(open);
  wordStories(open);
});
