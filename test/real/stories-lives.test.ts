import { after, before, describe } from 'node:test';
import { changeStories, imageStories, orderStories, restartStories } from '../stories/index.ts';
import { openRealStage, RealTheatre } from '../stories/real-stage.ts';

/** Who starts when, and again, or not at all, and what becomes of pods when their manifests change. */
let theatre: RealTheatre;
before(async () => {
  theatre = await RealTheatre.open('lives');
});
after(() => theatre?.close());

const open = openRealStage(() => theatre);

describe('on containerd', { concurrency: true }, () => {
  restartStories(open);
  orderStories(open);
  changeStories(open);
  imageStories(open);
});
