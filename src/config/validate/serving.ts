import { quote, type Fault } from '../fault.ts';
import { cipherSuites } from './cipher-suites.ts';
import { check, guessOf, needsGate, type ValidationInput } from './rule.ts';

export function checkServing({ config, gates }: ValidationInput): readonly Fault[] {
  const { tlsCipherSuites, serverTLSBootstrap, enableSystemLogQuery: query, enableSystemLogHandler } = config;
  return [
    ...tlsCipherSuites.flatMap((suite) => {
      const message = `must be cipher suites by their IANA names, got ${quote(suite)}${guessOf(suite, cipherSuites)}`;
      return cipherSuites.has(suite) ? [] : [{ field: 'tlsCipherSuites', message }];
    }),
    ...needsGate(serverTLSBootstrap, 'serverTLSBootstrap', 'RotateKubeletServerCertificate', gates),
    ...needsGate(query, 'enableSystemLogQuery', 'NodeLogQuery', gates),
    ...check(query && !enableSystemLogHandler, 'enableSystemLogQuery', query, 'needs enableSystemLogHandler: true'),
    ...checkTracing(config.tracing),
  ];
}

function checkTracing(tracing: ValidationInput['config']['tracing']): readonly Fault[] {
  const { endpoint, samplingRatePerMillion: rate } = tracing ?? {};
  const [, scheme] = /^([^:/]+):\/\//.exec(endpoint ?? '') ?? [];
  return [
    ...check(
      scheme !== undefined && !['dns', 'unix', 'unix-abstract'].includes(scheme),
      'tracing.endpoint',
      endpoint,
      'must be host:port, or begin with dns://, unix:// or unix-abstract://',
    ),
    ...check(
      rate !== undefined && (rate < 0 || rate > 1_000_000),
      'tracing.samplingRatePerMillion',
      rate,
      'must be from 0 to 1000000',
    ),
  ];
}

export function checkLogging({ config, gates }: ValidationInput): readonly Fault[] {
  const { format, verbosity, vmodule, options } = config.logging;
  return [
    ...check(verbosity > 2 ** 31 - 1, 'logging.verbosity', verbosity, 'must be below 2^31'),
    ...check(
      vmodule.length > 0 && format !== 'text',
      'logging.vmodule',
      format,
      'works only with logging.format: text',
    ),
    ...vmodule.flatMap(({ filePattern, verbosity: level }, index) => [
      ...check(
        filePattern === '' || /[=,]/.test(filePattern),
        `logging.vmodule.${index}.filePattern`,
        filePattern,
        'must be a file pattern without "=" and ","',
      ),
      ...check(level > 2 ** 31 - 1, `logging.vmodule.${index}.verbosity`, level, 'must be below 2^31'),
    ]),
    ...(['text', 'json'] as const).flatMap((kind) => [
      ...needsGate(options[kind].splitStream, `logging.options.${kind}.splitStream`, 'LoggingAlphaOptions', gates),
      ...needsGate(
        !options[kind].infoBufferSize.isZero(),
        `logging.options.${kind}.infoBufferSize`,
        'LoggingAlphaOptions',
        gates,
      ),
    ]),
  ];
}
