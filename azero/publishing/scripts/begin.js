// A published page begins: a worker takes the place of the server.

import { useSender } from "../../interfaces/web/page/src/api.js";

const MISSING = "This browser is too old for this page: it lacks";

const textOf = (id) => document.getElementById(id).textContent;

/** What the page needs and the browser lacks; an empty text if it lacks nothing. */
function lacking() {
  if (typeof WebAssembly !== "object") return "WebAssembly";
  if (typeof Worker !== "function") return "Web Workers";
  if (typeof DecompressionStream !== "function") return "DecompressionStream";
  return "";
}

function show(problem) {
  const line = document.createElement("p");
  line.className = "unloaded";
  line.setAttribute("role", "alert");
  line.textContent = problem;
  document.body.prepend(line);
}

/** The worker, and what waits for its answers. */
class Channel {
  #waiting = new Map(); // by the numbers of requests: {resolve, controller of the stream}
  #last = 0;

  constructor() {
    const script = new Blob([textOf("worker")], { type: "text/javascript" });
    this.worker = new Worker(URL.createObjectURL(script));
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = ({ message }) => show(`The page cannot think: ${message}`);
    const agents = JSON.parse(textOf("agents")).map((agent, k) => ({
      ...agent,
      wasm: textOf(`wasm-${k}`),
      weights: textOf(`weights-${k}`),
    }));
    this.worker.postMessage({ open: { page: JSON.parse(textOf("page")), agents } });
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

  #take({ id, status, body, event, data, isOver, problem }) {
    if (problem) show(`This page cannot run here: ${problem}`);
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    if (status && body !== undefined) {
      this.#waiting.delete(id);
      waiting.resolve(new Response(JSON.stringify(body), { status }));
    } else if (status) {
      const stream = new ReadableStream({ start: (controller) => void (waiting.stream = controller) });
      waiting.resolve(new Response(stream, { status }));
    } else if (event) {
      waiting.stream.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    } else if (isOver) {
      this.#waiting.delete(id);
      waiting.stream.close();
    }
  }
}

const problem = lacking();
if (problem) show(`${MISSING} ${problem}.`);
else useSender(new Channel().send);
