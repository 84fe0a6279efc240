// Training beside the page: slices of a few milliseconds, so that messages are heard between them.

import { LEARNERS } from "./learners.js";

const SLICE = 15, OFTEN = 80;

export function serve(scope) {
  let learner = null, running = false, until = 0, off = [], told = 0, number = 0, rate = 0, calm = false;

  function tell() {
    if (!learner) return;
    told = performance.now();
    scope.postMessage({ number, running, rate, ...learner.report(off) });
  }

  function advance(goal) {
    const began = performance.now(), from = learner.epoch;
    let now = began;
    while (learner.epoch < goal && now - began < SLICE) {
      const before = learner.epoch;
      learner.step();
      now = performance.now();
      if (learner.epoch === before) break;  // nothing to train on
    }
    if (now > began) rate = 0.9 * rate + 0.1 * 1000 * (learner.epoch - from) / (now - began);
  }

  function turn() {
    if (!running || !learner) return;
    advance(until);
    if (learner.epoch >= until) running = false;
    if (!running || performance.now() - told > (calm ? 1000 : OFTEN)) tell();
    if (running) setTimeout(turn, 0);
  }

  scope.onmessage = ({ data }) => {
    if (data.do === "start") {
      learner = LEARNERS[data.spec.world](data.spec);
      ({ number, until, calm } = data);
      off = data.off || [];
      rate = 0;
      const was = running;
      running = data.running;
      tell();
      if (running && !was) setTimeout(turn, 0);
    } else if (data.do === "run") {
      until = data.until;
      const was = running;
      running = data.running;
      if (running && !was) setTimeout(turn, 0); else tell();
    } else if (data.do === "step" && learner) { running = false; learner.step(); tell();
    } else if (data.do === "off") { off = data.off; tell(); }
  };
}

if (typeof document === "undefined" && typeof self !== "undefined" && typeof self.postMessage === "function") serve(self);
