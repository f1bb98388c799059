export type { Reflect, ReflectOptions, RunningMirror } from './ports.ts';
