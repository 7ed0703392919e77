// The engine as the rest of the page sees it: a function that answers, in a worker that is replaced when it dies.
import { signal } from "@preact/signals";
import type { Operation, Operations } from "./shapes.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

/** failed: it could not be loaded, or died before it could do anything; start tries again. */
export type Status = "loading" | "ready" | { failed: string };

/** The engine died of a question, or took too long over it; it has been started anew. */
export class CrashError extends Error {}

/** How long the engine may think about one question, in milliseconds. */
const patience = 20_000;

/** What can wait until everything else is answered: pictures and plans, since the findings are what people look at as they type. */
const patient: ReadonlySet<Operation> = new Set<Operation>(["graph", "plan"]);

interface Question {
  operation: Operation;
  request: unknown;
  resolve(answer: string): void;
  reject(error: Error): void;
}

class Engine {
  readonly status = signal<Status>("loading");
  private worker: Worker | undefined;
  private module: WebAssembly.Module | undefined; // as the first worker compiled it: another one needs no network
  private asked: Question | undefined; // one at a time, so that it is known which question the engine died of
  private readonly queue: Question[] = [];
  private watchdog: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    this.status.value = "loading";
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.take(worker, event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.take(worker, { crash: event.message || "its worker could not be loaded." });
    };
    this.post({ module: this.module });
    this.next(); // it waits in the worker: the answer comes as soon as the engine runs
  }

  /** Asks the engine. It rejects with what the engine says is wrong with the request, or with a CrashError. */
  async ask<O extends Operation>(operation: O, request: Operations[O]["request"]): Promise<Operations[O]["answer"]> {
    const text = await new Promise<string>((resolve, reject) => {
      this.queue.push({ operation, request, resolve, reject });
      this.next();
    });
    const answer = JSON.parse(text);
    if (typeof answer.error === "string") throw new Error(answer.error);
    return answer;
  }

  private next(): void {
    if (this.asked || !this.worker) return;
    const hurried = this.queue.findIndex((question) => !patient.has(question.operation));
    const [question] = this.queue.splice(Math.max(hurried, 0), 1);
    if (!question) return;
    this.asked = question;
    this.post({ operation: question.operation, request: question.request });
    this.watch();
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  private watch(): void {
    clearTimeout(this.watchdog);
    const { worker } = this;
    if (!worker || !this.asked || this.status.peek() !== "ready") return;
    this.watchdog = setTimeout(() => this.take(worker, { crash: `it took longer than ${patience / 1000} seconds` }), patience);
  }

  private take(worker: Worker, said: FromWorker): void {
    if (worker !== this.worker) return; // the last words of one that was replaced
    if ("crash" in said) {
      this.crash(said.crash);
    } else if ("module" in said) {
      this.module = said.module;
    } else if ("ready" in said) {
      this.status.value = "ready";
      this.watch();
    } else {
      this.asked?.resolve(said.answer);
      this.asked = undefined;
      this.watch();
      this.next();
    }
  }

  private crash(why: string): void {
    this.worker?.terminate();
    this.worker = undefined;
    clearTimeout(this.watchdog);
    if (this.status.peek() !== "ready") {
      // Not of a question: it would die again. What was asked is asked when somebody starts it.
      if (this.asked) this.queue.unshift(this.asked);
      this.asked = undefined;
      this.status.value = { failed: why };
      return;
    }
    const { asked } = this;
    this.asked = undefined;
    this.start();
    asked?.reject(new CrashError(why));
  }
}

export const engine = new Engine();
