import { after, before, describe } from 'node:test';
import { rightStories } from '../../stories/index.ts';
import { openRealStage, RealTheatre } from '../../stories/real-stage.ts';

/** What containers may do and get where the agent and the runtime make the cgroups. */
let theatre: RealTheatre;
before(async () => {
  process.env['TUBELET_TEST_CGROUP_DRIVER'] = 'cgroupfs';
  theatre = await RealTheatre.open('inside');
});
after(() => theatre?.close());

const open = openRealStage(() => theatre);

describe('with the cgroupfs driver', { concurrency: true }, () => {
  rightStories(open);
});
