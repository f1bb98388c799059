export { podRow } from './pod-row.ts';
export { PodView, type Screen } from './pod-view.ts';
export { StepPrinter } from './steps.ts';
