#!/usr/bin/env node

/**
 * The command `isoflat`: the terminal, and Ctrl-C. The work is done in a thread (command_work.mjs), which a pass over the data may hold for
 * seconds, and this one answers all the while.
 */

import { Worker } from "node:worker_threads";

const FAILED = 1;
/** How wide a line of progress may be. */
const WIDTH = 78;

/** A line on standard error that is written over itself. */
let isShown = false;
function show(line) {
  isShown = true;
  process.stderr.write(`\r${line.slice(0, WIDTH).padEnd(WIDTH)}`);
}

function say(message) {
  if (isShown) process.stderr.write(`\r${" ".repeat(WIDTH)}\r`);
  isShown = false;
  if (message !== undefined) process.stderr.write(`isoflat: ${message}\n`);
}

/** Waits until it is written: a pipe takes it in pieces. */
const print = (text) => new Promise((resolve) => process.stdout.write(text, resolve));

// Who reads no further, as `head` does, has what it wants.
process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : FAILED));

const pressed = new Int32Array(new SharedArrayBuffer(4));
const thread = new Worker(new URL("command_work.mjs", import.meta.url), {
  workerData: {
    words: process.argv.slice(2),
    pressed,
    showsLines: process.stderr.isTTY === true,
    colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
  },
});

/** The first Ctrl-C asks the work to finish. The second is the system's again, which ends the program whatever it is in the middle of. */
function hearInterrupts() {
  process.once("SIGINT", () => {
    Atomics.store(pressed, 0, 1);
    say("finishing with what there is; Ctrl-C again ends at once");
  });
}

let printed = Promise.resolve();
const end = (status) => printed.then(() => process.exit(status));
thread.on("message", ({ begins, line, print: text, fault, end: status }) => {
  if (begins) hearInterrupts();
  if (line !== undefined) show(line);
  if (text !== undefined) {
    say();
    printed = printed.then(() => print(text));
  }
  if (fault !== undefined) printed = printed.then(() => say(fault));
  if (status !== undefined) void end(status);
});
thread.on("error", (error) => {
  say(error.message);
  void end(FAILED);
});
