// Asks with the official JavaScript client: a stream that is dropped and resumed, then errors.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE, apiKey: process.env.KEY, maxRetries: 0 });
const question = { model: "holdfast-kpi-chain", input: "Who built the pier?" };

const numbers = [];
let id;
const first = await client.responses.create({ ...question, stream: true });
for await (const event of first) {
  numbers.push(event.sequence_number);
  id ??= event.response?.id;
  if (event.type === "response.reasoning_summary_part.added") break;
}
const rest = await client.responses.retrieve(id, { stream: true, starting_after: numbers.at(-1) });
let last;
for await (const event of rest) {
  numbers.push(event.sequence_number);
  last = event;
}
const ended = await client.responses.retrieve(id);
const refused = await client.responses.create({ ...question, model: "gpt-5" }).catch((error) => error);
const models = [];
for await (const model of client.models.list()) models.push(model.id);

const annotations = ended.output.at(-1).content[0].annotations;
const marks = annotations.map((each) => ended.output_text.slice(each.start_index, each.end_index));
console.log(
  JSON.stringify({
    numbers,
    last: last.type,
    text: ended.output_text,
    marks,
    refused: [refused.status, refused.message],
    models,
  }),
);
