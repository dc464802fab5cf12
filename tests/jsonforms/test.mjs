// Fills in the questionnaire of the demo in a browser and submits it; compares display conditions with the server.
// Called by `run`: test.mjs BINARY CHROMIUM BUNDLE DIRECTORY
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkConditions } from './conditions.mjs';
import { checkForm } from './form.mjs';
import { servePage, startDemo, tokenOf } from './server.mjs';
import puppeteer from 'puppeteer-core';

const [binary, chromium, bundle, directory] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const counts = { passed: 0, failed: 0 };

/** Counts one check; a promise that fails is a check that fails. */
async function check(name, holds) {
  let detail = '';
  const kept = await Promise.resolve()
    .then(holds)
    .catch((error) => {
      detail = `: ${error.message}`;
      return false;
    });
  counts[kept ? 'passed' : 'failed'] += 1;
  console.log(`${kept ? 'ok    ' : 'FAILED'} ${name}${detail}`);
}

const interfaceOf = (demo, token) => async (method, url, body) => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const address = `${demo.origin}/api/rest_full/v0.3${url}`;
  const answer = await fetch(address, { method, headers, body: body && JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
};

async function all(demo, page, browser) {
  const token = await tokenOf(demo, 'public surveys attachments');
  const call = interfaceOf(demo, token);
  const photo = path.join(directory, 'stop.txt');
  await writeFile(photo, 'The stop at Mill Street\n');
  await checkForm({ check, call, browser, address: page.address, token, photo });
  const report = await demo.imported(path.join(here, 'conditions.ndjson'));
  await checkConditions({ check, call, ids: report.refs.riverbend });
}

const demo = await startDemo(path.resolve(binary), directory);
try {
  const page = await servePage(
    { '/': ['text/html', path.join(here, 'page.html')], '/page.js': ['text/javascript', bundle] },
    demo.origin,
  );
  const browser = await puppeteer.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    userDataDir: path.join(directory, 'browser'),
  });
  try {
    await check('the test runs to its end', async () => {
      await all(demo, page, browser);
      return true;
    });
  } finally {
    await browser.close();
    page.close();
  }
} finally {
  await demo.stop();
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
