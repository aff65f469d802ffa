// A published page begins: a worker takes the place of the server, or in a review what lies in the file.

import { useSender } from "../../interfaces/web/page/src/api.js";
import { answering } from "./finished.js";

const MISSING = "This browser is too old for this page: it lacks";
/** A module with a function that returns a vector of 128 bits. */
const SIMD = [
  ...[0, 97, 115, 109, 1, 0, 0, 0],
  ...[1, 5, 1, 96, 0, 1, 123], // types: () -> v128
  ...[3, 2, 1, 0], // functions
  ...[10, 8, 1, 6, 0, 65, 0, 253, 17, 11], // code: i32.const 0, i32x4.splat
];
const ASK_MS = 5000;
const MOST_UNANSWERED = 3; // questions whether the worker is there

const textOf = (id) => document.getElementById(id).textContent;

/** What the page needs and the browser lacks; an empty text if it lacks nothing. */
export function lacking() {
  if (typeof WebAssembly !== "object") return "WebAssembly";
  if (!WebAssembly.validate(new Uint8Array(SIMD))) return "SIMD in WebAssembly";
  if (typeof Worker !== "function") return "Web Workers";
  return lackingToUnpack();
}

const lackingToUnpack = () => (typeof DecompressionStream === "function" ? "" : "DecompressionStream");

/** Shows a sentence in the place of the page. */
function show(problem) {
  const line = document.createElement("p");
  line.className = "unloaded";
  line.style.animation = "none"; // which hides it at first
  line.setAttribute("role", "alert");
  line.textContent = problem;
  document.getElementById("app")?.remove();
  document.body.prepend(line);
}

/** The worker, and what waits for its answers. */
export class Channel {
  #waiting = new Map(); // by the numbers of requests: {resolve, controller of the stream}
  #last = 0;
  #numUnanswered = 0;
  #isOpen = false;

  /** `start()` returns a worker that opens what the file has. */
  constructor(start, askMs = ASK_MS) {
    this.start = start;
    this.#begin();
    setInterval(() => this.#ask(), askMs);
  }

  #begin() {
    this.#isOpen = false;
    this.#numUnanswered = 0;
    this.worker = this.start();
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = ({ message }) => show(`The page cannot think: ${message}`);
  }

  /** Asks whether the worker is there. If rules never return, it is not: another one takes its place. */
  #ask() {
    if (!this.#isOpen || !this.#waiting.size) return;
    if (this.#numUnanswered++ < MOST_UNANSWERED) return this.worker.postMessage({ ask: true });
    this.worker.terminate();
    const error = { code: "rules", message: "the rules do not answer" };
    for (const [id, { stream }] of this.#waiting)
      if (stream) {
        this.#take({ id, event: "error", data: { error } });
        this.#take({ id, isOver: true });
      } else this.#take({ id, status: 500, body: { error } });
    this.#begin();
  }

  /** Does what `fetch` does with a request of api.js. */
  send = (path, /** @type {RequestInit} */ { body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const id = ++this.#last;
      const waiting = { resolve, stream: null };
      this.#waiting.set(id, waiting);
      signal?.addEventListener("abort", () => {
        if (!this.#waiting.delete(id)) return;
        this.worker.postMessage({ cancel: id });
        const aborted = new DOMException("aborted", "AbortError");
        reject(aborted);
        waiting.stream?.error(aborted);
      });
      this.worker.postMessage({ id, path, body: body === undefined ? null : JSON.parse(String(body)) });
    });

  #take(/** @type {any} */ { id, status, body, event, data, isOver, isOpen, problem }) {
    this.#numUnanswered = 0;
    if (isOpen) this.#isOpen = true;
    if (problem) show(`This page cannot run here: ${problem}`);
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    if (status && body !== undefined) {
      this.#waiting.delete(id);
      waiting.resolve(new Response(JSON.stringify(body), { status }));
    } else if (status) {
      const stream = new ReadableStream({
        start: (controller) => void (waiting.stream = controller),
        cancel: () => void this.#waiting.delete(id), // the page has read what it needs, such as an error
      });
      waiting.resolve(new Response(stream, { status }));
    } else if (event) {
      waiting.stream.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    } else if (isOver) {
      this.#waiting.delete(id);
      waiting.stream.close();
    }
  }
}

/** Starts the worker of the file. */
function startWorker() {
  const script = new Blob([textOf("worker")], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(script));
  const agents = JSON.parse(textOf("agents")).map((agent, k) => ({
    ...agent,
    wasm: textOf(`wasm-${agent.module}`),
    weights: textOf(`weights-${k}`),
  }));
  worker.postMessage({ open: { page: JSON.parse(textOf("page")), agents } });
  return worker;
}

/** Lets a worker, or the file, answer what the page asks; returns whether the browser can do what that needs. */
export function begin() {
  const answers = document.getElementById("answers"); // of a review
  const problem = answers ? lackingToUnpack() : lacking();
  if (problem) show(`${MISSING} ${problem}.`);
  else useSender(answers ? answering(answers.textContent) : new Channel(startWorker).send);
  return !problem;
}
