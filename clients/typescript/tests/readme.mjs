/** Writes `readme.generated.ts`: a test for each example of README.md, to be compiled and run with the other tests. */
import { readFileSync, writeFileSync } from 'node:fs';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
// The name of each test, what stands in the example and what takes its place, and a check of what it prints.
const tests = [
  {
    name: 'titles of proposals are printed',
    replaced: { "'https://city.example'": 'baseUrl', 'component_id: 3': 'component_id' },
    check: 'assert.equal(printed.length, proposalCount); assert.match(String(printed[0]), /^\\d+,Bench number \\d+$/);',
  },
  {
    name: 'proposals with a word are counted and printed',
    before: 'const client = reader();',
    replaced: { "'bench'": "'NUMBER 20'", '{ filter': '{ component_id, filter' },
    check: "assert.equal(printed.length, 7); assert.deepEqual([printed[0], printed[1]?.[1]], [[6], 'Bench number 20']);",
  },
  {
    name: 'a vote is cast by a job',
    before: 'const client = voter(); const proposal_id = await firstProposal();',
    replaced: { 'proposal_id: 19': 'proposal_id' },
    check: "assert.equal(printed[0]?.[0], 'completed'); assert.ok(printed[0]?.[1]);",
  },
  {
    name: 'a webhook is verified',
    before: 'const { request, body } = delivery();',
    check: "assert.deepEqual(printed, [['user.created']]);",
  },
];
if (examples.length !== tests.length) throw new Error(`README.md has ${examples.length} examples`);

const imports = new Set();
const functions = tests.map(({ name, before = '', replaced = {}, check }, number) => {
  let code = examples[number].replace(/^import \{ (\w+) \} from '@civitas\/client';\n/gm, (_, imported) => {
    imports.add(imported);
    return '';
  });
  for (const [old, now] of Object.entries(replaced)) {
    if (!code.includes(old)) throw new Error(`example ${number} has no ${old}`);
    code = code.replaceAll(old, now);
  }
  return `test('${name}', async () => {
  const { console, printed } = recorder();
  ${before}
${code}
  ${check}
});
`;
});
writeFileSync(
  new URL('readme.generated.ts', import.meta.url),
  `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${[...imports].join(', ')} } from '@civitas/client';
import { baseUrl, clientId, clientSecret, component_id, delivery, firstProposal, proposalCount, reader, recorder, signingSecret, voter } from './readme.js';

${functions.join('\n')}`,
);
