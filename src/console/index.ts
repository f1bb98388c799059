export { formatAge, podRow, type PodRow } from './pod-row.ts';
export { PodView, type Screen } from './pod-view.ts';
export { formatSeconds, StepPrinter } from './steps.ts';
export { clip, sortRows, tableLines } from './table.ts';
