// Refuses to pack or install the package before it is built: npm runs this for both. It also runs it for `npm ci` in this
// directory, which comes before the build.
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const directory = realpathSync(fileURLToPath(new URL('.', import.meta.url)));
const { INIT_CWD = directory, npm_command = '' } = process.env;
const isOwnInstall = realpathSync(INIT_CWD) === directory && !['pack', 'publish', 'link'].includes(npm_command);
if (!isOwnInstall && !existsSync(`${directory}/dist/index.js`)) {
  console.error(`@civitas/client is not built yet. Run in ${directory}:
    npm ci
    npm run generate -- BINARY
    npm run build
BINARY is a built \`civitas\`, or a file named *.json with its OpenAPI document.`);
  process.exit(1);
}
