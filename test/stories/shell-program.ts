import { finalFlushPath, markScript, quote, storyFolder, type ContainerPlan, type Program } from './plan.ts';

/** The programs of a container as one shell script, which counts its starts in the pod's folder. */
export function shellScript(plan: ContainerPlan): string {
  const count = `${storyFolder}/${plan.name}.turn`;
  const last = plan.does.length - 1;
  return [
    `mark() { word=$1; ${markScript}; }`,
    `turn=0; if [ -f ${count} ]; then read turn < ${count}; fi; echo $((turn + 1)) > ${count}`,
    'case $turn in',
    ...plan.does.map((program, index) => `${index === last ? '*' : index})\n${bodyOf(plan, program)}\n;;`),
    'esac',
    '',
  ].join('\n');
}

/** Where a program that cannot be asked to end notes how long it has lived. */
export const beatFile = (container: string, turn: number): string => `${container}.${turn}.beat`;

function bodyOf(plan: ContainerPlan, program: Program): string {
  const { name } = plan;
  const { prints = [], complains = [], breaksOff, chatters, leaves, serves, exits = 0 } = program;
  return [
    onTerm(name, program),
    `mark ${quote(`${name} starts`)}`,
    ...prints.map((line) => `echo ${quote(line)}`),
    ...complains.map((line) => `echo ${quote(line)} >&2`),
    ...(breaksOff === undefined ? [] : [`printf %s ${quote(breaksOff)}`]),
    ...(serves === undefined ? [] : [`httpd -f -p ${serves} -h ${storyFolder} &`]),
    ...(chatters === undefined ? [] : [chatter(chatters.lines, chatters.times)]),
    lifeOf(name, program),
    ...(leaves === undefined ? [] : [`printf %s ${quote(leaves)} > ${finalFlushPath(plan)}`]),
    `mark ${quote(`${name} ends`)}`,
    `exit ${exits}`,
  ].join('\n');
}

function onTerm(name: string, { onTerm = {} }: Program): string {
  const asked = `mark "${name} asked"`;
  if (onTerm === 'ignore') return `trap '${asked}' TERM`;
  const { after = 0, exits = 0 } = onTerm;
  return `trap '${asked}; sleep ${after}; mark "${name} ends"; exit ${exits}' TERM`;
}

/** A shell hears a signal when what it waits for ends, or at once in `wait`. */
function lifeOf(name: string, { runs, onTerm }: Program): string {
  if (typeof runs === 'number') return `sleep ${runs} & wait $!`;
  if (runs !== undefined) return `until [ -f ${storyFolder}/${runs.until} ]; do sleep 0.1; done`;
  if (onTerm !== 'ignore') return 'while true; do sleep 1000 & wait $!; done';
  const beat = `${storyFolder}/${name}.$turn.beat`;
  return `while true; do read up rest < /proc/uptime; echo $up > ${beat}.new; mv ${beat}.new ${beat}; sleep 0.1; done`;
}

function chatter(lines: number, times: number): string {
  const portion = `awk -v from=$from 'BEGIN { for (n = from; n < from + ${lines}; n++) printf "%080d\\n", n }'`;
  return `from=0; while [ $from -lt ${lines * times} ]; do ${portion}; from=$((from + ${lines})); sleep 1; done`;
}
