import { describe, expect, test } from "vitest";
import { Latest } from "../../www/src/latest";

/** Answers when it is told to; notes what it was asked and what was told. */
function slow() {
  const asked: string[] = [];
  const told: string[] = [];
  const open: { resolve: (answer: string) => void; reject: (error: unknown) => void }[] = [];
  const latest = new Latest<string, string>(
    (question) => {
      asked.push(question);
      return new Promise((resolve, reject) => open.push({ resolve, reject }));
    },
    {
      answered: (question, answer) =>
        void told.push(`${question}: ${answer}${latest.isWaiting ? ", more to come" : ""}`),
      failed: (error) => void told.push(`failed: ${error}`),
    },
  );
  const rest = () => new Promise((resolve) => setTimeout(resolve));
  return {
    asked,
    told,
    latest,
    answers: async (answer: string) => {
      open.shift()?.resolve(answer);
      await rest();
    },
    fails: async (error: string) => {
      open.shift()?.reject(error);
      await rest();
    },
  };
}

describe("Latest", () => {
  test("asks one thing at a time, and of what comes meanwhile the last", async () => {
    const { asked, told, latest, answers } = slow();
    for (const question of ["a", "b", "c", "d"]) latest.wants(question);
    expect(asked).toEqual(["a"]);
    expect(latest.isWaiting).toBe(true);
    await answers("1");
    expect(asked).toEqual(["a", "d"]);
    await answers("2");
    expect(told).toEqual(["a: 1, more to come", "d: 2"]);
    expect(latest.isWaiting).toBe(false);
    latest.wants("e");
    expect(asked).toEqual(["a", "d", "e"]);
  });

  test("says what failed of the last question alone, and goes on", async () => {
    const { asked, told, latest, answers, fails } = slow();
    latest.wants("a");
    latest.wants("b");
    await fails("lost");
    expect(told).toEqual([]);
    await fails("lost again");
    expect(told).toEqual(["failed: lost again"]);
    expect(latest.isWaiting).toBe(false);
    latest.wants("c");
    await answers("3");
    expect(asked).toEqual(["a", "b", "c"]);
    expect(told.at(-1)).toBe("c: 3");
  });
});
