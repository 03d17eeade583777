/**
 * The program of an engine's worker: an instance of the module, in which one engine does what remote.js sends. The build makes one text of
 * this and all that it imports, and puts it into the module.
 */

import { builtin } from "./builtin.js";
import { adopted } from "./errors.js";
import { ADVICE, forwarded } from "./forward.js";
import { createGlue } from "./isoflat_glue.js";
import { Instance } from "./module.js";

const port = builtin("node:worker_threads")?.parentPort ?? globalThis;

const home = new Instance(createGlue, `Its worker has ended. ${ADVICE}`);

/** Those that have crossed, by number; an error in place of one that could not be made. */
const problems = new Map();

/** What is wished of calls under way, by number. */
const wishes = new Map();

let engine;

/** Errors as what they say: of an error itself a message would lose the code. */
const spoken = (error) => {
  const { code, message } = adopted(error);
  return { code, message };
};

function post(message) {
  const buffers = [];
  const special = (value) => (value instanceof Error ? spoken(value) : undefined);
  port.postMessage(forwarded(message, buffers, special, true), buffers);
}

/** The engine's getters by their values, and the names of its methods: the other side has an object of them. */
function outlined(raw) {
  const [values, methods] = [{}, []];
  for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(raw)))) {
    if (get) values[name] = raw[name];
    else if (typeof value === "function" && name !== "constructor") methods.push(name);
  }
  return { values, methods };
}

async function created(glue, options) {
  engine = await glue.Engine.create(options);
  return outlined(engine);
}

/** A problem is a bigint in what is sent, as nothing else is. */
function received(value) {
  if (typeof value !== "bigint") return value;
  const problem = problems.get(value);
  if (problem instanceof Error) throw problem;
  return problem;
}

function work(glue, { call, method, values, options, isWatched }) {
  const given = values.map(received);
  if (options) {
    const wish = wishes.get(call);
    const plain = Object.entries(options).map(([key, value]) => [key, received(value)]);
    const controls = { stopped: () => wish.stopped, finishing: () => wish.finishing };
    if (isWatched) controls.onProgress = (progress) => post({ call, progress });
    given.push({ ...Object.fromEntries(plain), ...controls });
  }
  return method === "create" ? created(glue, ...given) : engine[method](...given);
}

async function answer(message) {
  const { call, wished } = message;
  wishes.set(call, { stopped: wished.includes("stopped"), finishing: wished.includes("finishing") });
  try {
    post({ call, result: await home.enter((glue) => work(glue, message)) });
  } catch (error) {
    // Of a crash everybody is told at once.
    if (!home.crash) post({ call, error: spoken(error), missing: error.missing });
  } finally {
    wishes.delete(call);
  }
}

/** In place of a problem: why there is none, and the numbers of what has to be sent again. */
const absent = ({ code, message }, missing) => Object.assign(new Error(message), { code, missing });

function receive(number, { network, data }) {
  try {
    const problem = home.enter((glue) => {
      const made = glue.Network.fromJSON(network);
      try {
        return new glue.Problem(made, data);
      } finally {
        made.free();
      }
    });
    problems.set(number, problem);
  } catch (error) {
    problems.set(number, absent(error, [number]));
  }
}

/** The beginning of one that has crossed. */
function share(number, { whole, samples }) {
  const found = problems.get(whole);
  const isAbsent = found instanceof Error;
  problems.set(number, isAbsent ? absent(found, [number, ...found.missing]) : home.enter(() => found.first(samples)));
}

function release(number) {
  const problem = problems.get(number);
  problems.delete(number);
  home.enter(() => problem?.free?.());
}

const handlers = {
  start: (module) => home.glue.initSync({ module }),
  problem: receive,
  first: share,
  release,
  call: (_, message) => void answer(message),
  wish: (call, { name }) => {
    const wish = wishes.get(call);
    if (wish) wish[name] = true;
  },
  hear: () => post({ hears: true }),
  crash: () => home.enter((glue) => glue.crash()),
};

home.pending.add((crash) => post({ crashed: crash.message }));

port.onmessage = ({ data: [kind, subject, more] }) => {
  try {
    handlers[kind](subject, more);
  } catch (error) {
    if (!home.crash) throw error;
  }
};
