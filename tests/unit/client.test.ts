/** A worker that stops hearing, as Firefox's may while they start threads: it is replaced, and nobody waits for ever. */

import { expose } from "comlink";
import { beforeEach, expect, test, vi } from "vitest";
import { Client } from "../../www/src/client";
import type { Outcome } from "../../www/src/worker/protocol";

interface Api {
  hear(): void;
  work(): Promise<Outcome<string>>;
}

beforeEach(() => void vi.stubGlobal("document", { baseURI: "http://localhost/" }));

const QUESTION_MS = 5;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Workers of a kind each, one after the other: `deaf` from its first work on, `slow` in a work that lets it hear. */
function workersOf(...kinds: ("deaf" | "slow" | "failing")[]) {
  let [started, ended] = [0, 0];
  const spawn = (): Worker => {
    const kind = kinds[Math.min(started++, kinds.length - 1)] ?? "slow";
    const { port1: page, port2: worker } = new MessageChannel();
    const api: Api & Record<string, unknown> = {
      connect() {},
      stop() {},
      hear() {},
      async work() {
        if (kind === "failing") throw new Error("it fails");
        if (kind === "deaf") worker.close();
        await wait(30 * QUESTION_MS);
        return { ok: true, value: kind };
      },
    };
    expose(api, worker);
    const seen = Object.assign(page, {
      terminate() {
        ended++;
        page.close();
      },
    });
    setTimeout(() => worker.postMessage({ ready: true }));
    return seen as unknown as Worker;
  };
  return { client: new Client<Api, never>(() => {}, spawn), counts: () => [started, ended] };
}

const work = (client: Client<Api, never>) => client.callHearing((lab) => lab.work(), QUESTION_MS);

test("a worker that hears may take its time", async () => {
  const { client, counts } = workersOf("slow");
  expect(await work(client)).toBe("slow");
  expect(counts()).toEqual([1, 0]);
  client.discard();
});

test("one that does not is replaced", async () => {
  const { client, counts } = workersOf("deaf", "deaf", "slow");
  expect(await work(client)).toBe("slow");
  expect(counts()).toEqual([3, 2]);
  client.discard();
});

test("but not for ever", async () => {
  const { client, counts } = workersOf("deaf");
  await expect(work(client)).rejects.toThrow("does not answer");
  expect(counts()).toEqual([4, 4]);
});

test("what fails fails at once", async () => {
  const { client, counts } = workersOf("failing");
  await expect(work(client)).rejects.toThrow("it fails");
  expect(counts()).toEqual([1, 0]);
  client.discard();
});

test("one that is not fetched is no engine that breaks", async () => {
  const failing = (message?: string) => () => {
    const worker = { terminate() {} } as unknown as Worker;
    queueMicrotask(() => worker.onerror?.({ message } as ErrorEvent));
    return worker;
  };
  const code = (message?: string) =>
    new Client<Api, never>(() => {}, failing(message)).call((api) => api.work()).catch(({ code }) => code);
  expect(await code()).toBe("not_fetched");
  expect(await code("Uncaught TypeError")).toBe("unexpected");
});
