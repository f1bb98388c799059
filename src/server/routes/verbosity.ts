import { text, type Handler } from '../route.ts';

interface VerbosityDeps {
  setVerbosity(level: number): void;
}

/** Beyond this no line asks for more. */
const highest = 10;

/** `PUT /debug/flags/v`: how much the log says from now on; the body is the number alone. */
export function verbosityHandler(deps: VerbosityDeps): Handler {
  return async ({ body }) => {
    const asked = body.toString().trim();
    const level = /^\d{1,2}$/.test(asked) ? Number(asked) : Number.NaN;
    if (!(level <= highest)) {
      const shown = JSON.stringify(asked.slice(0, 32));
      return text(400, `failed set klog.logging.verbosity ${shown}: must be a whole number from 0 to ${highest}\n`);
    }
    deps.setVerbosity(level);
    return text(200, `successfully set klog.logging.verbosity to ${level}`);
  };
}
