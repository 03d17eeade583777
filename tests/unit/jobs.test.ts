import { describe, expect, test, vi } from "vitest";
import type { Client } from "../../www/src/client";
import { LabError } from "../../www/src/errors";
import { Jobs } from "../../www/src/jobs";

const clientThat = (stop: () => Promise<void> = async () => {}) => ({ stop: vi.fn(stop) }) as unknown as Client;

/** A promise and what ends it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe("Jobs", () => {
  test("runs one task at a time, in the order in which they were asked for", async () => {
    const jobs = new Jobs(clientThat(), () => {});
    const { opened, open } = gate();
    const heard: string[] = [];
    const first = jobs.run(async () => {
      heard.push("first begins");
      await opened;
      heard.push("first ends");
    });
    await vi.waitFor(() => expect(heard).toEqual(["first begins"]));
    const second = jobs.run(async () => {
      heard.push("second");
    });
    open();
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect(heard).toEqual(["first begins", "first ends", "second"]);
  });

  test("ends a task at its next checkpoint when another waits, and tells nobody", async () => {
    const onError = vi.fn();
    const jobs = new Jobs(clientThat(), onError);
    const { opened, open } = gate();
    const begun = gate();
    const first = jobs.run(async (job) => {
      begun.open();
      await opened;
      job.checkpoint();
      throw new Error("it went on");
    });
    await begun.opened;
    const second = jobs.run(async () => {});
    open();
    expect(await first).toBe(false);
    expect(await second).toBe(true);
    expect(onError).not.toHaveBeenCalled();
  });

  test("skips what a later task has overtaken before its turn came", async () => {
    const jobs = new Jobs(clientThat(), () => {});
    const bodies = [vi.fn(async () => {}), vi.fn(async () => {}), vi.fn(async () => {})];
    const ends = await Promise.all(bodies.map((body) => jobs.run(body)));
    expect(ends).toEqual([false, false, true]);
    expect(bodies.map((body) => body.mock.calls.length)).toEqual([0, 0, 1]);
  });

  test("goes on after a task that failed, and says what was wrong", async () => {
    const onError = vi.fn();
    const jobs = new Jobs(clientThat(), onError);
    const wrong = new LabError("parse", "no JSON");
    expect(
      await jobs.run(async () => {
        throw wrong;
      }),
    ).toBe(false);
    expect(onError).toHaveBeenCalledExactlyOnceWith(wrong);
    expect(await jobs.run(async () => {})).toBe(true);
  });

  test("takes what the worker aborted for no error", async () => {
    const onError = vi.fn();
    const jobs = new Jobs(clientThat(), onError);
    const ended = await jobs.run(async () => {
      throw new LabError("aborted", "stopped");
    });
    expect([ended, onError.mock.calls.length]).toEqual([false, 0]);
  });

  test("stops the worker before each task, whether or not that succeeds", async () => {
    const client = clientThat(() => Promise.reject(new Error("no worker")));
    const jobs = new Jobs(client, () => {});
    expect(await jobs.run(async () => {})).toBe(true);
    expect(client.stop).toHaveBeenCalledOnce();
  });

  test("stop ends the running task at its next checkpoint", async () => {
    const jobs = new Jobs(clientThat(), () => {});
    const { opened, open } = gate();
    const begun = gate();
    const running = jobs.run(async (job) => {
      begun.open();
      await opened;
      job.checkpoint();
    });
    await begun.opened;
    await jobs.stop();
    open();
    expect(await running).toBe(false);
  });
});
