import type { FuzzCase } from './case.ts';

const mostShown = 2_000;

/** A case in words: what was said in quotes, and how long was waited. */
export function transcriptOf({ steps, ...rest }: FuzzCase): string {
  const words = steps.map((step) => {
    if (step.kind === 'wait') return `wait ${step.ms} ms`;
    const text = JSON.stringify(step.bytes.toString('latin1'));
    return text.length > mostShown ? `say ${text.slice(0, mostShown)}… (${step.bytes.length} bytes)` : `say ${text}`;
  });
  return [JSON.stringify(rest), ...words].join('\n    ');
}
