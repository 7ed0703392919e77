// The engine for the rest of the page: it answers questions, in a worker that is restarted after a crash.
import { batch, signal } from "@preact/signals";
import type { Kind } from "./kinds.ts";
import type { Operation, Operations } from "./shapes.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

/** failed: the engine could not be loaded, or crashed while starting. start tries again. */
export type Status = "loading" | "ready" | { failed: string };

/** The larger engine is loaded when an answer says that it is needed. */
export type LargerStatus = "not needed" | "loading" | "done" | { failed: string };

/** The engine crashed on a question, or took too long, and was restarted. */
export class CrashError extends Error {}

/** Milliseconds per question. */
const timeout = 20_000;

/** Questions that are asked last, because users watch the findings while they type. */
const lowPriority: ReadonlySet<Operation> = new Set<Operation>(["graph", "plan", "follow", "holes"]);

interface Question {
  operation: Operation;
  request: object;
  resolve(answer: string): void;
  reject(error: Error): void;
}

class Engine {
  readonly status = signal<Status>("loading");
  readonly kind = signal<Kind>("smaller");
  readonly largerStatus = signal<LargerStatus>("not needed");
  private worker: Worker | undefined;
  private larger: Worker | undefined; // while it is loading, the smaller one answers
  private readonly modules: Partial<Record<Kind, WebAssembly.Module>> = {}; // as compiled by the first worker, so that a restart needs no network
  private current: Question | undefined; // one at a time, so that it is known which question crashed the engine
  private readonly queue: Question[] = [];
  private watchdog: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    this.status.value = "loading";
    this.worker = this.open(this.kind.peek());
    this.next(); // the worker keeps it until the engine runs
  }

  /** Loads the larger engine, which then replaces the smaller one. */
  loadLarger(): void {
    this.largerStatus.value = "loading";
    this.larger = this.open("larger");
  }

  private open(kind: Kind): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(worker, event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.receive(worker, { crash: event.message || "its worker could not be loaded." });
    };
    post(worker, { kind, module: this.modules[kind] });
    return worker;
  }

  /** Asks the engine. Rejects with the engine's error message or a CrashError. */
  async ask<O extends Operation>(operation: O, request: Operations[O]["request"]): Promise<Operations[O]["answer"]> {
    const text = await new Promise<string>((resolve, reject) => {
      this.queue.push({ operation, request, resolve, reject });
      this.next();
    });
    const answer = JSON.parse(text);
    if (answer.needs && this.largerStatus.peek() === "not needed") this.loadLarger();
    if (typeof answer.error === "string") throw new Error(answer.error);
    return answer;
  }

  private next(): void {
    if (this.current || !this.worker) return;
    const urgent = this.queue.findIndex((question) => !lowPriority.has(question.operation));
    const [question] = this.queue.splice(Math.max(urgent, 0), 1);
    if (!question) return;
    this.current = question;
    post(this.worker, { operation: question.operation, request: question.request });
    this.watch();
  }

  private watch(): void {
    clearTimeout(this.watchdog);
    const { worker } = this;
    if (!worker || !this.current || this.status.peek() !== "ready") return;
    this.watchdog = setTimeout(() => this.receive(worker, { crash: `it took longer than ${timeout / 1000} seconds` }), timeout);
  }

  private receive(worker: Worker, message: FromWorker): void {
    if (worker === this.larger) this.receiveFromLarger(worker, message);
    else if (worker === this.worker) this.receiveFromCurrent(message); // messages of a replaced worker are ignored
  }

  private receiveFromCurrent(message: FromWorker): void {
    if ("crash" in message) {
      this.crash(message.crash);
    } else if ("module" in message) {
      this.modules[this.kind.peek()] = message.module;
    } else if ("ready" in message) {
      this.status.value = "ready";
      this.watch();
    } else {
      this.current?.resolve(message.answer);
      this.current = undefined;
      this.watch();
      this.next();
    }
  }

  private receiveFromLarger(worker: Worker, message: FromWorker): void {
    if ("module" in message) {
      this.modules.larger = message.module;
      return;
    }
    this.larger = undefined;
    if ("crash" in message) {
      worker.terminate();
      this.largerStatus.value = { failed: message.crash };
    } else {
      this.replaceBy(worker);
    }
  }

  private replaceBy(larger: Worker): void {
    this.worker?.terminate();
    this.worker = larger;
    this.requeue();
    batch(() => {
      this.kind.value = "larger";
      this.largerStatus.value = "done";
      this.status.value = "ready";
    });
    this.next();
  }

  /** Asks the current question again, before all others. */
  private requeue(): void {
    if (this.current) this.queue.unshift(this.current);
    this.current = undefined;
  }

  private crash(why: string): void {
    this.worker?.terminate();
    this.worker = undefined;
    clearTimeout(this.watchdog);
    if (this.status.peek() !== "ready") {
      // No question caused this, so a restart would crash again. The current question is asked after the next start.
      this.requeue();
      this.status.value = { failed: why };
      return;
    }
    const { current } = this;
    this.current = undefined;
    this.start();
    current?.reject(new CrashError(why));
  }
}

const post = (worker: Worker, message: ToWorker) => worker.postMessage(message);

export const engine = new Engine();
