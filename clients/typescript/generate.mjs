// Generates src/generated/schema.ts from the OpenAPI document: node generate.mjs BINARY|DOCUMENT
// BINARY is a built `civitas`, DOCUMENT the output of `civitas openapi` or the `openapi.json` of a server, named *.json.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

if (process.argv.length !== 3) {
  console.error('usage: npm run generate -- BINARY|DOCUMENT');
  process.exit(2);
}
const source = resolve(process.argv[2]);
const text = source.endsWith('.json')
  ? readFileSync(source, 'utf8')
  : execFileSync(source, ['openapi'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const document = JSON.parse(text);

// Leaves out what the transport does: errors, redirects, conditions and the header of the token. Times of queries are of a
// type of their own.
const QUERY_TIME = 'time of a query';
for (const operation of Object.values(document.paths).flatMap(Object.values)) {
  const isResult = ([status]) => /^(2..|302)$/.test(status);
  operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(isResult));
  operation.parameters = operation.parameters?.filter(({ name }) => name !== 'Authorization');
  for (const { schema } of operation.parameters ?? []) {
    const value = schema.items ?? schema;
    if (value.format === 'date-time') value.format = QUERY_TIME;
  }
}

const { factory, SyntaxKind } = ts;
const queryTime = factory.createUnionTypeNode([
  factory.createTypeReferenceNode('Date'),
  factory.createKeywordTypeNode(SyntaxKind.StringKeyword),
]);
const transform = ({ format }) => (format === QUERY_TIME ? queryTime : undefined);

const directory = fileURLToPath(new URL('.', import.meta.url));
mkdirSync(`${directory}src/generated`, { recursive: true });
writeFileSync(`${directory}src/generated/schema.ts`, astToString(await openapiTS(document, { transform })));
