// Verifies deliveries with the library of Standard Webhooks. Standard input: [{"key", "headers", "body"}]. Standard output: a
// JSON array with true or false for each. A delivery whose parsed body differs from its text is false too.
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const results = JSON.parse(await text(process.stdin)).map(({ key, headers, body }) => {
  try {
    return JSON.stringify(new Webhook(key).verify(body, headers)) === JSON.stringify(JSON.parse(body));
  } catch {
    return false;
  }
});
console.log(JSON.stringify(results));
