import { after, before, describe } from 'node:test';
import { insideStories, rightStories } from '../../stories/index.ts';
import { openRealStage, RealTheatre } from '../../stories/real-stage.ts';

/** What containers find around them where systemd makes the cgroups. */
let theatre: RealTheatre;
before(async () => {
  process.env['TUBELET_TEST_CGROUP_DRIVER'] = 'systemd';
  theatre = await RealTheatre.open('inside');
});
after(() => theatre?.close());

const open = openRealStage(() => theatre);

describe('with the systemd driver', { concurrency: true }, () => {
  insideStories(open);
  rightStories(open);
});
