import { after, before, describe } from 'node:test';
import { agentStories, probeStories } from '../stories/index.ts';
import { openRealStage, RealTheatre } from '../stories/real-stage.ts';

/** Who has started, who is ready and who is restarted; and that an agent that ends changes none of it. */
let theatre: RealTheatre;
before(async () => {
  theatre = await RealTheatre.open('probes');
});
after(() => theatre?.close());

const open = openRealStage(() => theatre);

describe('on containerd', { concurrency: true }, () => {
  probeStories(open);
});

agentStories(open);
