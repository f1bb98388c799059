import { after, before, describe } from 'node:test';
import { insideStories, rightStories } from '../stories/index.ts';
import { openRealStage, RealTheatre } from '../stories/real-stage.ts';

/** What containers find around them, as the kernel and their own files have it. */
let theatre: RealTheatre;
before(async () => {
  theatre = await RealTheatre.open('inside');
});
after(() => theatre?.close());

const open = openRealStage(() => theatre);

describe('on containerd', { concurrency: true }, () => {
  insideStories(open);
  rightStories(open);
});
