/** Questions that come faster than their answers: one at a time is asked, and of those that come meanwhile the last. */

interface Told<Question, Answer> {
  /** Of the question that was asked last, or of one before it while that one is still to come. */
  answered: (question: Question, answer: Answer) => void;
  /** Of the last one: nothing more is to come. */
  failed: (error: unknown) => void;
}

export class Latest<Question, Answer> {
  #next: { question: Question } | null = null;
  #isRunning = false;
  #isAsking = false;

  constructor(
    private readonly ask: (question: Question) => Promise<Answer>,
    private readonly told: Told<Question, Answer>,
  ) {}

  /** Is there an answer to come? */
  get isWaiting(): boolean {
    return this.#isAsking || this.#next !== null;
  }

  wants(question: Question): void {
    this.#next = { question };
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#next) {
      const { question } = this.#next;
      this.#next = null;
      this.#isAsking = true;
      const outcome = await this.ask(question).then(
        (answer) => ({ answer }),
        (error: unknown) => ({ error }),
      );
      this.#isAsking = false;
      if ("answer" in outcome) this.told.answered(question, outcome.answer);
      else if (!this.#next) this.told.failed(outcome.error);
    }
    this.#isRunning = false;
  }
}
