// A helper's thread: a worker that waits in shared memory for messages and has `Helper` of src/engine/sharded answer them,
// in an instance of its own of the module that sent it here. src/web/threads.rs is the other side.
//
// It is a text inside the module and not a file of the package: a bundler would have to find it, and could not, since it
// would need the package that it is a part of. Nothing is imported for the same reason. Computing needs no JavaScript but to look,
// every millisecond or so, whether it may stop; all else that the module would import is replaced by functions that fail.

// Places in `control`, and the states of the first of them. Each state is left by one side alone: the helper leaves GIVEN
// and WORKING, and the others are left by its owner.
const STATE = 0;
const LENGTH = 1;
const TOTAL = 2;
const STOPPED = 3;
const LOOKS = 4;
const WAITING = 0;
const GIVEN = 1;
const WORKING = 2;
const ANSWERED = 3;
const MORE = 4;
const FAILED = 5;
const ENDED = 6;

const tell = (control, state) => {
  Atomics.store(control, STATE, state);
  Atomics.notify(control, STATE);
};

/** Waits as long as the state is this one, and returns the next. A notification may be an old one that comes late. */
const leaves = (control, state) => {
  while (Atomics.load(control, STATE) === state) Atomics.wait(control, STATE, state);
  return Atomics.load(control, STATE);
};

/** Messages come and go in pieces, as large as the shared areas are. */
function serve(wasm, { control, request, reply }) {
  const memory = () => new Uint8Array(wasm.memory.buffer);
  for (;;) {
    let [at, taken, total] = [0, 0, 1];
    while (taken < total) {
      if (leaves(control, WAITING) === ENDED) return;
      const length = control[LENGTH];
      if (taken === 0) {
        total = control[TOTAL] >>> 0;
        at = wasm.isoflat_helper_reserve(total) >>> 0;
        if (at === 0) throw new Error(`${total} bytes do not fit in memory`);
      }
      memory().set(request.subarray(0, length), at + taken);
      taken += length;
      tell(control, taken < total ? WAITING : WORKING);
    }
    const length = wasm.isoflat_helper_answer() >>> 0;
    const from = wasm.isoflat_helper_reply() >>> 0;
    for (let given = 0; given < length; ) {
      const piece = Math.min(length - given, reply.length);
      reply.set(memory().subarray(from + given, from + given + piece));
      control[LENGTH] = piece;
      control[TOTAL] = length;
      tell(control, ANSWERED);
      given += piece;
      if (leaves(control, ANSWERED) === ENDED) return;
    }
  }
}

/** What the module said before it panicked. */
function lastWords(wasm) {
  const text = new Uint8Array(wasm.memory.buffer).subarray(wasm.isoflat_last_panic() >>> 0);
  return new TextDecoder().decode(text.slice(0, text.indexOf(0)));
}

onmessage = ({ data }) => {
  const looks = () => {
    // As long as it looks it is not gone.
    Atomics.add(data.control, LOOKS, 1);
    return Atomics.load(data.control, STOPPED);
  };
  const imports = {};
  for (const { module, name } of WebAssembly.Module.imports(data.module)) {
    imports[module] ??= {};
    // Its name has a number behind it.
    imports[module][name] = name.includes("isoflatHelperStopped")
      ? looks
      : () => {
          throw new Error(`a helper has no ${name}`);
        };
  }
  // What fails until here is an error event of the worker's.
  const wasm = new WebAssembly.Instance(data.module, imports).exports;
  postMessage("ready");
  try {
    serve(wasm, data);
  } catch (error) {
    const { control, reply } = data;
    const text = new TextEncoder().encode(`${error} ${lastWords(wasm)}`.trim()).subarray(0, reply.length);
    reply.set(text);
    control[LENGTH] = text.length;
    tell(control, FAILED);
  }
  close();
};
