// Receives webhooks: WEBHOOK_SECRET=… node receiver.mjs PORT DIRECTORY
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

const SECRET = process.env.WEBHOOK_SECRET;
const [PORT, DIRECTORY] = process.argv.slice(2);
const MAX_BODY = 5_000_000, TOLERANCE_SECONDS = 300;

/** Returns the status of the answer. */
function check(headers, body) {
  const timestamp = headers["x-webhook-timestamp"] ?? "";
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  if (!/^[0-9]{1,12}$/.test(timestamp) || !isRecent) return 400;
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest("hex");
  const [expected, received] = [`v1=${digest}`, headers["x-webhook-signature"] ?? ""].map((text) => Buffer.from(text));
  if (expected.length !== received.length || !timingSafeEqual(expected, received)) return 401;
  return /^[0-9a-f-]{36}$/.test(headers["x-webhook-id"] ?? "") ? 204 : 400;
}

/** Writes DIRECTORY/<delivery>.json, unless it is there. */
async function store(delivery, body) {
  const path = join(DIRECTORY, `${randomUUID()}.tmp`);
  const file = await open(path, "wx");
  try {
    await file.writeFile(body);
    await file.sync();
    await link(path, join(DIRECTORY, `${delivery}.json`));
  } catch (error) {
    if (error.code !== "EEXIST") throw error; // A repeated delivery.
  } finally {
    await file.close();
    await unlink(path);
  }
}

async function receive(request) {
  if (request.method !== "POST") return 405;
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > MAX_BODY) return 413;
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  const status = check(request.headers, body);
  if (status === 204) await store(request.headers["x-webhook-id"], body);
  return status;
}

createServer(async (request, response) => {
  const status = await receive(request).catch(() => 500);
  response.writeHead(status, status === 204 ? {} : { Connection: "close" }).end();
}).listen(Number(PORT), "127.0.0.1");
