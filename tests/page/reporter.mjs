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

export default class Reporter {
  #project = "";
  #passed = 0;
  #failed = 0;
  #tests = 0;
  #skipped = [];

  printsToStdio() {
    return true;
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
    if (step.error) this.#failed++;
    else this.#passed++;
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
    console.log(`\n${test.title}`);
    process.stdout.write(this.#said.get(test) ?? "");
    this.#said.delete(test);
    if (result.status === "skipped") {
      const why = test.annotations.concat(result.annotations ?? []).find(({ type }) => type === "skip")?.description;
      this.#skipped.push(`${this.#project}, ${test.title}: ${why ?? "no reason given"}`);
      return;
    }
    this.#tests++;
    const isCheck = ({ message }) => /expect\(/.test(plain(message));
    for (const error of result.errors) {
      // What breaks a test off is no check, and a failure all the same.
      if (!isCheck(error)) this.#failed++;
      console.log(plain(error.stack ?? error.message ?? error.value).replace(/^/gm, "    "));
    }
    for (const { name, path } of result.attachments) {
      if (path) console.log(`    ${name}: ${relative(root, path)}`);
    }
    console.log(`  (${seconds(result.duration)})`);
  }

  onError(error) {
    this.#failed++;
    console.error(plain(error.message ?? error.value));
  }

  onEnd(result) {
    if (this.#tests === 0 && this.#skipped.length === 0) this.#failed ||= 1;
    for (const text of this.#skipped) console.log(`\nSKIPPED ${text}`);
    console.log(`\n${this.#tests} tests in ${seconds(result.duration)}`);
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
  }
}
