// Starts and stops `civitas demo`, and serves the page and the interface from one address.
import { spawn, execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';

const START_SECONDS = 60;
const CLIENT = 'demo-full-access';

/** Resolves with the text of standard output once it has `wanted`. */
function outputWith(child, wanted) {
  return new Promise((resolve, reject) => {
    let output = '';
    const late = () => reject(new Error(`no start within ${START_SECONDS} s: ${output}`));
    const timer = setTimeout(late, START_SECONDS * 1000);
    child.stdout.on('data', (text) => {
      output += text;
      if (!output.includes(wanted)) return;
      clearTimeout(timer);
      resolve(output);
    });
    child.on('exit', (code) => reject(new Error(`civitas ended with ${code}: ${output}`)));
  });
}

/** The demo on a free port, with its data in `directory`. */
export async function startDemo(binary, directory) {
  const env = { ...process.env, CIVITAS_DATA_DIR: path.join(directory, 'data') };
  const settings = { cwd: directory, env };
  const child = spawn(binary, ['demo', '--listen', '127.0.0.1:0'], { ...settings, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = await outputWith(child, 'curl -s -H');
  const origin = output.match(/API\s+(http:\/\/localhost:\d+)\//)[1];
  const secret = output.match(new RegExp(`${CLIENT}\\s+(\\S+)`))[1];
  const run = promisify(execFile);
  const imported = async (file) => JSON.parse((await run(binary, ['import', '--quiet', file], settings)).stdout);
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  return { origin, secret, imported, stop };
}

/** A token of the client that may do everything. */
export async function tokenOf({ origin, secret }, scope) {
  const fields = { grant_type: 'client_credentials', client_id: CLIENT, client_secret: secret, scope };
  const answer = await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const body = await answer.json();
  if (!body.access_token) throw new Error(`no token: ${answer.status} ${JSON.stringify(body)}`);
  return body.access_token;
}

/** Serves the files; every other path is answered by the interface. The browser sees one origin. */
export async function servePage(files, origin) {
  const target = new URL(origin);
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://page');
    if (files[pathname]) {
      const [type, file] = files[pathname];
      response.writeHead(200, { 'Content-Type': type }).end(await readFile(file));
      return;
    }
    const { method, url, headers } = request;
    const options = { host: '127.0.0.1', port: target.port, method, path: url, headers: { ...headers, host: target.host } };
    const passed = http.request(options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
