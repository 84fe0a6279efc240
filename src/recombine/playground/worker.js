// Training beside the page: slices of a few milliseconds, so that messages are heard between them.

import { LEARNERS } from "./learners.js";

const SLICE = 15, OFTEN = 80;

export function serve(scope) {
  let learner = null, running = false, until = 0, off = [], told = 0, number = 0, rate = 0, calm = false, due = 0, points = [];

  function tell() {
    if (!learner) return;
    told = performance.now();
    scope.postMessage({ number, running, rate, points, ...learner.report(off) });
    points = [];
  }

  // Curves are kept at epochs that grow by a tenth, whatever the speed.
  function keep() {
    if (learner.epoch < due) return;
    points.push({ epoch: learner.epoch, curves: learner.report().curves });
    due = Math.ceil(learner.epoch * 1.1 + 0.5);
  }

  function advance(goal) {
    const began = performance.now(), from = learner.epoch;
    let now = began;
    while (learner.epoch < goal && now - began < SLICE) {
      const before = learner.epoch;
      learner.step();
      keep();
      now = performance.now();
      if (learner.epoch === before) break;  // nothing to train on
    }
    if (now > began) rate = 0.9 * rate + 0.1 * 1000 * (learner.epoch - from) / (now - began);
  }

  function turn() {
    if (!running || !learner) return;
    const before = learner.epoch;
    advance(until);
    if (learner.epoch >= until || learner.epoch === before) running = false;  // done, or nothing to train on
    if (!running || performance.now() - told > (calm ? 1000 : OFTEN)) tell();
    if (running) setTimeout(turn, 0);
  }

  scope.onmessage = ({ data }) => {
    if (data.do === "start") {
      learner = LEARNERS[data.spec.world](data.spec);
      ({ number, until, calm } = data);
      off = data.off || [];
      rate = due = 0;
      points = [];
      keep();
      const was = running;
      running = data.running;
      tell();
      if (running && !was) setTimeout(turn, 0);
    } else if (data.do === "run") {
      until = data.until;
      const was = running;
      running = data.running;
      if (running && !was) setTimeout(turn, 0); else tell();
    } else if (data.do === "step" && learner) { running = false; learner.step(); keep(); tell();
    } else if (data.do === "off") { off = data.off; tell(); }
  };
}

if (typeof document === "undefined" && typeof self !== "undefined" && typeof self.postMessage === "function") serve(self);
