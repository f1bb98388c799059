import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseProviderConfig } from './provider-config.ts';

const path = '/etc/providers.yaml';
const parse = (text: string, serviceAccountTokens = true) => parseProviderConfig(text, path, { serviceAccountTokens });
const head = 'apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n';
const plain = `- name: ecr
  matchImages: ["*.example.com", "registry.example.org:5000/team"]
  defaultCacheDuration: 1h30m
  apiVersion: credentialprovider.kubelet.k8s.io/v1
`;
const tokens = `  tokenAttributes:
    serviceAccountTokenAudience: registry
    cacheType: Token
    requireServiceAccount: true
    requiredServiceAccountAnnotationKeys: [example.com/role]
    optionalServiceAccountAnnotationKeys: [example.com/tenant]
`;

describe('what can be read', () => {
  test('all versions, YAML and JSON', () => {
    for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
      const yaml = (head + plain).replaceAll('/v1\n', `/${version}\n`);
      const { providers, problems } = parse(yaml);
      assert.deepEqual(problems, []);
      assert.equal(providers[0]?.apiVersion, `credentialprovider.kubelet.k8s.io/${version}`);
    }
    const json = {
      apiVersion: 'kubelet.config.k8s.io/v1',
      kind: 'CredentialProviderConfig',
      providers: [
        {
          name: 'p',
          matchImages: ['a.example'],
          defaultCacheDuration: '0s',
          apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1',
        },
      ],
    };
    assert.equal(parse(JSON.stringify(json)).providers[0]?.defaultCacheMs, 0);
  });

  test('every field', () => {
    const { providers, problems } = parse(`${head}${plain}  args: [--region, "1"]
  env:
  - {name: PROFILE, value: hunter2}
  - {name: EMPTY}
${tokens}`);
    assert.deepEqual(problems, []);
    const [provider] = providers;
    assert.deepEqual(provider?.environment.reveal(), { PROFILE: 'hunter2', EMPTY: '' });
    assert.deepEqual(
      { ...provider, environment: undefined },
      {
        name: 'ecr',
        matchImages: ['*.example.com', 'registry.example.org:5000/team'],
        defaultCacheMs: 5_400_000,
        apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
        args: ['--region', '1'],
        environment: undefined,
        tokenAttributes: {
          audience: 'registry',
          cacheType: 'Token',
          required: true,
          requiredAnnotations: ['example.com/role'],
          optionalAnnotations: ['example.com/tenant'],
        },
      },
    );
    assert.doesNotMatch(JSON.stringify(providers), /hunter2/);
  });
});

describe('what is refused, with its place', () => {
  const table: readonly (readonly [what: string, text: string, problem: RegExp])[] = [
    ['no YAML', 'a: [', /^\/etc\/providers\.yaml:\d+: not valid YAML: /],
    ['an empty file', '# nothing\n', /:1: the file is empty$/],
    ['a list', '- a', /:1: expected a mapping of fields, got a list$/],
    [
      'another version',
      head.replace('/v1\n', '/v2\n') + plain,
      /:1: apiVersion: expected one of .*v1alpha1, got "kubelet\.config\.k8s\.io\/v2"$/,
    ],
    [
      'another kind',
      head.replace('CredentialProviderConfig', 'KubeletConfiguration') + plain,
      /:2: kind: expected CredentialProviderConfig, got/,
    ],
    ['no kind', (head + plain).replace(/kind.*\n/, ''), /kind: missing; it is CredentialProviderConfig$/],
    ['no providers', head, /:3: providers: at least one provider is needed$/],
    ['providers that are none', `${head.trimEnd()} none`, /:3: providers: expected a list, got a string$/],
    ['a second document', `${head}${plain}---\na: 1\n`, /another begins at line \d+$/],
    ['a misspelt field', `${head}${plain}  arg: []\n`, /:8: providers\[0\]\.arg: unknown field, did you mean args\?$/],
    ['a field twice', `${head}${plain}  name: b\n`, /:8: not valid YAML: .*name/],
    [
      'no name',
      head + plain.replace('name: ecr', 'args: []'),
      /providers\[0\]\.name: missing; it is the name of the plugin/,
    ],
    [
      'a path as name',
      head + plain.replace('ecr', '../ecr'),
      /:4: providers\[0\]\.name: "\.\.\/ecr" must be the name of a file/,
    ],
    ['a name of dots', head + plain.replace('ecr', '".."'), /name: "\.\." must be the name of a file/],
    ['a name with a space', head + plain.replace('ecr', 'e cr'), /name: "e cr" must be/],
    [
      'no version of the plugin',
      (head + plain).replace(/ {2}apiVersion.*\n/, ''),
      /providers\[0\]\.apiVersion: missing; it is one of/,
    ],
    [
      'an unknown one',
      (head + plain).replace(/k8s\.io\/v1\n$/, 'k8s.io/v9\n'),
      /:7: providers\[0\]\.apiVersion: expected one of/,
    ],
    ['no images', head + plain.replace(/\[.*\]/, '[]'), /providers\[0\]\.matchImages: missing; it is registries/],
    [
      'an image with a scheme',
      head + plain.replace('*.example', 'https://example'),
      /matchImages\[0\]: "https:\/\/example\.com" must be a registry/,
    ],
    [
      'an image that is none',
      head + plain.replace('*.example.com', 'a b'),
      /:5: providers\[0\]\.matchImages\[0\]: "a b" must be/,
    ],
    [
      'an image that is a number',
      head + plain.replace('"*.example.com"', '5'),
      /matchImages\[0\]: expected text, got a number; put it in quotes$/,
    ],
    [
      'no duration',
      head + plain.replace(/ {2}default.*\n/, ''),
      /defaultCacheDuration: missing; it is how long answers count/,
    ],
    [
      'a duration below 0',
      head + plain.replace('1h30m', '-1s'),
      /:6: providers\[0\]\.defaultCacheDuration: "-1s" must be a duration such as 10m, not below 0$/,
    ],
    ['a number for it', head + plain.replace('1h30m', '90'), /defaultCacheDuration: expected text, got a number/],
    [
      'a variable without a name',
      `${head}${plain}  env: [{value: hunter2}]\n`,
      /env\[0\]\.name: missing; it is the name of a variable$/,
    ],
    [
      'a value that is no text',
      `${head}${plain}  env: [{name: A, value: 1234}]\n`,
      /env\[0\]\.value: expected text, got a number/,
    ],
    [
      'tokens for an old plugin',
      head + plain.replace(/v1\n$/, 'v1beta1\n') + tokens,
      /tokenAttributes: needs apiVersion: credentialprovider\.kubelet\.k8s\.io\/v1$/,
    ],
    [
      'tokens in an old file',
      head.replace('/v1\n', '/v1beta1\n') + plain + tokens,
      /:8: providers\[0\]\.tokenAttributes: unknown field$/,
    ],
    [
      'no audience',
      head + plain + tokens.replace(/ {4}service.*\n/, ''),
      /serviceAccountTokenAudience: missing; it is whom the tokens are for$/,
    ],
    [
      'another way to cache',
      head + plain + tokens.replace('cacheType: Token', 'cacheType: Pod'),
      /cacheType: expected one of ServiceAccount, Token, got "Pod"$/,
    ],
    [
      'no word about accounts',
      head + plain + tokens.replace(/ {4}requireS.*\n/, ''),
      /requireServiceAccount: missing; it is true or false$/,
    ],
    [
      'annotations without need',
      head + plain + tokens.replace('true', 'false'),
      /requiredServiceAccountAnnotationKeys: needs requireServiceAccount: true$/,
    ],
    [
      'annotations both ways',
      head + plain + tokens.replace('tenant', 'role'),
      /optionalServiceAccountAnnotationKeys: "example\.com\/role" is required already$/,
    ],
    [
      'no annotation key',
      head + plain + tokens.replace('example.com/role', 'a b'),
      /AnnotationKeys\[0\]: "a b" is no key of an annotation$/,
    ],
  ];
  for (const [what, text, problem] of table) {
    test(what, () => {
      const { providers, problems } = parse(text);
      assert.deepEqual(providers, []);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0] ?? '', problem);
    });
  }

  test('tokens without the feature', () => {
    assert.match(
      parse(head + plain + tokens, false).problems.join('\n'),
      /needs the feature gate KubeletServiceAccountToken/,
    );
  });

  test('everything at once', () => {
    const { problems } = parse(`${head}- {}\n- name: a/b\n`);
    assert.deepEqual(
      problems.map((problem) => /providers\[\d\]\.\w+/.exec(problem)?.[0]),
      [
        ...['apiVersion', 'name', 'matchImages', 'defaultCacheDuration'].map((field) => `providers[0].${field}`),
        ...['apiVersion', 'name', 'matchImages', 'defaultCacheDuration'].map((field) => `providers[1].${field}`),
      ],
    );
  });
});
