// The sides of `python -m tests.bench_decode` that llama.cpp decodes. Arguments: the folder of node-llama-cpp, a GGUF
// file, the threads, the prompt's tokens (JSON) and how many are written. Each line that comes asks for a round, and is
// answered with one: {"ms": of each token, "cpu": processor ms a token on average, "tokens": what was written}.
import process from "node:process";
import { createInterface } from "node:readline";

const [folder, file, threads, prompt, count] = process.argv.slice(2);
const { getLlama } = await import(`${folder}/node_modules/node-llama-cpp/dist/index.js`);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: Number(threads) });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 512, threads: Number(threads) });
const sequence = context.getSequence();

const round = async () => {
  await sequence.clearHistory();
  const [ms, tokens] = [[], []];
  let [began, spent] = [0, process.cpuUsage()];
  for await (const token of sequence.evaluate(JSON.parse(prompt), { temperature: 0, yieldEogToken: true })) {
    const now = performance.now();
    if (tokens.length) ms.push(now - began);
    else spent = process.cpuUsage(); // the first token ends the reading of the prompt
    began = now;
    tokens.push(token);
    if (tokens.length > Number(count)) break;
  }
  const { user, system } = process.cpuUsage(spent);
  return { ms, cpu: (user + system) / 1000 / ms.length, tokens };
};

for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await round())}\n`);
}
process.exit(0);
