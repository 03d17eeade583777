/** Says what is tried, what held and what was found, as it comes, and ends with how many. */

import { relative } from "node:path";
import { root } from "./built.mjs";

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;
/** Depth among the steps that people have named. */
const depth = (step) => (step.parent ? depth(step.parent) + (step.parent.category === "test.step" ? 1 : 0) : 1);
const indent = (step) => "  ".repeat(depth(step));
/** Colours, and where in a file, are for terminals and traces. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one.
const plain = (text = "") => text.replace(/\u001b\[[\d;]*m/g, "");

/** What failed in one try of a test: its checks that did not hold, or what broke it off. */
const faults = (result) => result.errors.map((error) => plain(error.message ?? error.value).split("\n")[0]);

export default class Reporter {
  #project = "";
  #passed = 0;
  #faults = 0;
  #suite;

  printsToStdio() {
    return true;
  }

  onBegin(_config, suite) {
    this.#suite = suite;
  }

  /** What a test has said so far: two of them run at a time, and each is said as a whole. */
  #said = new Map();

  #say(test, text) {
    this.#said.set(test, `${this.#said.get(test) ?? ""}${text}`);
  }

  onStepBegin(test, _result, step) {
    if (step.category === "test.step") this.#say(test, `${indent(step)}${step.title}\n`);
  }

  onStepEnd(test, _result, step) {
    if (step.category === "test.step") this.#say(test, `${indent(step)}  (${seconds(step.duration)})\n`);
    if (step.category !== "expect") return;
    if (!step.error) this.#passed++;
    this.#say(test, `${indent(step)}${step.error ? "✗" : "✓"} ${step.title}\n`);
  }

  onStdOut(text, test) {
    if (test) this.#say(test, text);
    else process.stdout.write(text);
  }

  onStdErr(text, test) {
    if (test) this.#say(test, text);
    else process.stderr.write(text);
  }

  onTestEnd(test, result) {
    const project = test.parent.project()?.name ?? "";
    if (project !== this.#project) console.log(`\n=== ${project}`);
    this.#project = project;
    console.log(`\n${test.title}${result.retry > 0 ? ", once more" : ""}`);
    process.stdout.write(this.#said.get(test) ?? "");
    this.#said.delete(test);
    if (result.status === "skipped") return;
    for (const error of result.errors) {
      console.log(plain(error.stack ?? error.message ?? error.value).replace(/^/gm, "    "));
    }
    for (const { name, path } of result.attachments) {
      if (path) console.log(`    ${name}: ${relative(root, path)}`);
    }
    console.log(`  (${seconds(result.duration)})`);
  }

  onError(error) {
    this.#faults++;
    console.log(`FAILED ${plain(error.message ?? error.value)}`);
  }

  /** Ends with a line for each test that failed, that held at its second try only, or that was not run. */
  onEnd(result) {
    const tests = this.#suite?.allTests() ?? [];
    if (tests.length === 0) this.#faults ||= 1;
    console.log("");
    for (const test of tests) {
      const outcome = test.outcome();
      const name = `${test.parent.project()?.name}, ${test.title}`;
      if (outcome === "skipped") {
        const why = test.annotations.find(({ type }) => type === "skip")?.description;
        console.log(`SKIPPED ${name}: ${why ?? "no reason given"}`);
      } else if (outcome !== "expected") {
        const tries = test.results.map((result) => faults(result));
        const found = outcome === "flaky" ? tries[0] : tries.at(-1);
        console.log(`${outcome === "flaky" ? "UNSTEADY" : "FAILED"} ${name}: ${found.join("; ")}`);
        if (outcome !== "flaky") this.#faults += Math.max(1, found.length);
      }
    }
    console.log(`\n${tests.length} tests in ${seconds(result.duration)}`);
    console.log(`${this.#passed} passed, ${this.#faults} failed`);
  }
}
