// Asks the secured listener for one path again and again: `ask-often.mjs URL COUNT CERT KEY`.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

const [url, words, cert, key] = process.argv.slice(2);
const count = Number(words);
const sideBySide = 8;
const agent = new Agent({
  keepAlive: true,
  maxSockets: sideBySide,
  rejectUnauthorized: false,
  cert: readFileSync(cert),
  key: readFileSync(key),
});
const answers = {};
let next = 0;

const ask = () =>
  new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (response) => {
      response.resume().on('error', reject).on('end', resolve);
      answers[response.statusCode] = (answers[response.statusCode] ?? 0) + 1;
    });
    asked.on('error', reject).end();
  });

async function askOn() {
  while (next++ < count) await ask();
}

await Promise.all(Array.from({ length: sideBySide }, askOn));
agent.destroy();
process.stdout.write(JSON.stringify(answers));
