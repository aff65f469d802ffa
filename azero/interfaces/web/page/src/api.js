// The HTTP interface: requests, and streams of events in answer to a POST.

import { Emitter } from "./html.js";

const API = "/api/v1/";
const RETRY_MS = [500, 1000, 2000, 3000];
const MOST_WAITS = 5; // for a server that is busy

class ApiError extends Error {
  constructor({ code, message, at, value }, status) {
    super(message);
    Object.assign(this, { code, at, value, status });
  }
}

/** The connection to the server: whether it answers, and when it is asked again. */
class Connection extends Emitter {
  isLost = false;
  retryAt = 0; // by Date.now
  waiting = new Set(); // functions that end a pause

  retryNow() {
    this.waiting.forEach((wake) => wake());
  }

  /** A request is given up. If no other one tries again, nobody knows whether the server answers. */
  giveUp() {
    if (!this.waiting.size) this.set(false);
  }

  set(isLost) {
    if (this.isLost === isLost) return;
    this.isLost = isLost;
    this.changed();
  }
}

export const connection = new Connection();

let send = (path, options) => fetch(API + path, options);

/** Lets something else answer the requests: `sender(path, options)` returns the promise of a Response. */
export function useSender(sender) {
  send = sender;
}

/** @typedef {{signal?: AbortSignal}} Options */

export const get = (path, /** @type {Options} */ { signal } = {}) => request(path, { signal });

export const post = (path, body, /** @type {Options} */ { signal } = {}) =>
  request(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    signal,
  });

/** Sends a request, again and again while the server does not answer; throws ApiError if it refuses. */
async function request(path, options) {
  for (let attempt = 0; ; attempt++) {
    const response = await attemptFetch(path, options, attempt);
    if (response) return response.ok ? response.json() : Promise.reject(await errorOf(response));
  }
}

/** Returns the response; null, after a pause, if the request should be sent again. `onBusy` is called before a pause. */
async function attemptFetch(path, options, attempt, onBusy) {
  try {
    const response = await send(path, options);
    connection.set(false);
    const wait = Number(response.headers.get("Retry-After"));
    if (!wait || attempt >= MOST_WAITS) return response;
    onBusy?.();
    await pause(1000 * Math.min(10, wait), options.signal);
    return null;
  } catch (error) {
    if (error.name === "AbortError") {
      connection.giveUp();
      throw error;
    }
    const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)];
    connection.retryAt = Date.now() + wait;
    connection.set(true);
    await pause(wait, options.signal);
    return null;
  }
}

/** Waits, until the user asks for a retry at the latest; throws AbortError if the signal is aborted. */
function pause(ms, signal) {
  return new Promise((/** @type {(nothing?: any) => void} */ resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      connection.waiting.delete(wake);
      signal?.removeEventListener("abort", stop);
    };
    const wake = () => {
      end();
      resolve();
    };
    const stop = () => {
      end();
      connection.giveUp();
      reject(new DOMException("aborted", "AbortError"));
    };
    const timer = setTimeout(wake, ms);
    connection.waiting.add(wake);
    signal?.addEventListener("abort", stop);
  });
}

async function errorOf(response) {
  const fallback = { code: "http", message: `the server answered ${response.status}` };
  const body = await response.json().catch(() => null);
  return new ApiError(body?.error ?? fallback, response.status);
}

/**
 * Opens a stream, and opens it again if the server goes away in the middle.
 *
 * Handlers: onStage, onUpdate and onDone take the event's data, onError an ApiError. Aborting the signal closes the
 * stream, which ends the search. Resolves when the stream has ended.
 */
export async function stream(path, body, handlers) {
  const { signal, onStage, onUpdate, onDone, onError } = handlers;
  const take = { stage: onStage, update: onUpdate, done: onDone };
  const options = {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    signal,
  };
  const begun = Date.now();
  const onBusy = () =>
    hand(onStage, {
      stage: "queued",
      text: "All places for searches are taken",
      elapsed_s: (Date.now() - begun) / 1000,
      expected_s: null,
      share: null,
    });
  try {
    for (let attempt = 0; ; attempt++) {
      const response = await attemptFetch(path, options, attempt, onBusy);
      if (!response) continue;
      if (!response.ok) throw await errorOf(response);
      let isOver = false;
      try {
        for await (const { event, data } of eventsOf(response.body)) {
          attempt = 0;
          if (event === "error") throw new ApiError(data.error ?? data, 200);
          isOver ||= event === "done";
          hand(take[event], data);
        }
      } catch (error) {
        if (error instanceof ApiError || error.name === "AbortError" || signal?.aborted) throw error;
      }
      if (isOver) return;
      connection.set(true);
      await pause(RETRY_MS[0], signal);
    }
  } catch (error) {
    if (error.name === "AbortError" || signal?.aborted) return;
    onError?.(error);
  }
}

/** Calls a handler. Its own fault is reported as any other of the page's, and is no lost connection. */
function hand(handler, data) {
  try {
    handler?.(data);
  } catch (error) {
    reportError(error);
  }
}

/** Yields {event, data} of a text/event-stream. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop();
      for (const block of blocks) {
        const found = parseEvent(block);
        if (found) yield found;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parseEvent(block) {
  let event = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trim());
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}
