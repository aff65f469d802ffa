// One agent's analysis of one position: a stream, its newest update, its stage. Updates of other positions are dropped.

import { stream } from "../../api.js";

export class Slot {
  /** `onChange(isAtOnce)` is called with each change; `onUpdate(update)` with each update, before it is shown. */
  constructor(onChange, onUpdate) {
    this.onChange = onChange;
    this.onUpdate = onUpdate;
    this.controller = null;
    this.key = null; // what the stream analyses
    this.clear();
  }

  clear() {
    this.latest = null; // the newest update
    this.shown = null; // the update on the page
    this.stage = null;
    this.error = null;
    this.reason = null; // why it ended by itself
  }

  /** Whether its search has ended by itself. */
  get hasEnded() {
    return this.reason !== null || this.error !== null;
  }

  /** Analyses a position; `known` is shown until the first update comes. */
  open(key, body, known) {
    this.close();
    this.clear();
    this.key = key;
    this.latest = this.shown = known;
    const controller = new AbortController();
    this.controller = controller;
    const ifCurrent = (take) => (data) => {
      if (this.controller === controller) take(data);
    };
    stream("analyses", body, {
      signal: controller.signal,
      onStage: ifCurrent((stage) => {
        this.stage = stage.stage === "searching" ? null : stage;
        this.onChange(true);
      }),
      onUpdate: ifCurrent((update) => {
        this.latest = update;
        this.stage = null;
        this.onUpdate(key, update);
        this.onChange(false);
      }),
      onDone: ifCurrent(({ reason }) => {
        this.reason = reason;
        this.stage = null;
        this.onChange(false);
      }),
      onError: ifCurrent((error) => {
        this.error = error;
        this.stage = null;
        this.onChange(true);
      }),
    });
    this.onChange(true);
  }

  /** Ends the stream, and with it the search. What is shown stays. */
  close() {
    this.controller?.abort();
    this.controller = null;
    this.key = null;
    this.stage = null;
  }

  /** Ends the stream, and shows what is known of another position. */
  leave(known) {
    this.close();
    this.clear();
    this.latest = this.shown = known;
  }

  /** Shows the newest update. */
  show() {
    this.shown = this.latest;
  }
}
