// Training beside the page: slices of a few milliseconds, so that messages are heard between them.

import { LEARNERS } from "./learners.js";

const SLICE = 15, OFTEN = 100;

export function serve(scope) {
  let learner = null, running = false, until = 0, off = [], told = 0, number = 0, rate = 0, calm = false, due = 0, points = [], drawn = true;

  // The next turn comes after the messages that wait, and without the 4 ms that a timer would take.
  const { port1: bell, port2: button } = new MessageChannel();
  let rung = false;
  bell.onmessage = () => { rung = false; turn(); };
  function go() {
    if (rung || !running) return;
    rung = true;
    button.postMessage(0);
  }

  function tell() {
    if (!learner) return;
    told = performance.now();
    drawn = false;
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
    // A page that has not drawn the last report yet is not given another: drawing must not eat the time to train.
    if (!running || (drawn && performance.now() - told > (calm ? 1000 : OFTEN))) tell();
    go();
  }

  scope.onmessage = ({ data }) => {
    if (data.do === "start") {
      learner = LEARNERS[data.spec.world](data.spec);
      ({ number, until, calm } = data);
      off = data.off || [];
      rate = due = 0;
      points = [];
      keep();
      running = data.running;
      tell();
      go();
    } else if (data.do === "run") {
      ({ until, running } = data);
      tell();
      go();
    } else if (data.do === "step" && learner) { running = false; learner.step(); keep(); tell();
    } else if (data.do === "off") { off = data.off; tell();
    } else if (data.do === "drawn") drawn = true;
  };
}

if (typeof document === "undefined" && typeof self !== "undefined" && typeof self.postMessage === "function") serve(self);
