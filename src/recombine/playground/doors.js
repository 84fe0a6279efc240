// Five doors, one for each paper: a state to start from, one sentence on what to look at and one on what surprises.

export const DOORS = {
  leak: {
    title: "The rule, but too small",
    paper: "Lippl & Stachenfeld, ICLR 2025",
    look: "Training sees every pair with an anchor; look at the slope of the unseen answers, which lazy networks (initial scale 1) shrink to about what the kernel predicts.",
    surprise: "The same networks started ten times smaller lose next to nothing, and with a single anchor even they do.",
    state: { rows: 9, columns: 9, rule: "sum", support: "anchors", model: "one", width: 64, layers: 1, scale: 1, lr: 0.3, optimiser: "sgd", epochs: 2000 },
    tries: [["Lazy: scale 1", { scale: 1 }], ["Rich: scale 0.1", { scale: 0.1 }], ["One anchor", { support: "plane" }], ["Two anchors", { support: "anchors" }]],
  },
  redundant: {
    title: "An input that should not matter",
    paper: "Li et al., 2020",
    look: "The answer is the first factor alone, and the corner where both are 1 was never seen: look at the boundary of eight networks there.",
    surprise: "The three seen corners settle the fourth, yet some dozen updates into training nearly all of it is answered wrongly, and a few per cent stay wrong.",
    state: { world: "toy", rows: 2, columns: 2, rule: "first", support: "leave", model: "one", lr: 0.1, scale: 1, optimiser: "sgd", epochs: 1024 },
    tries: [["Without the corner", { support: "leave" }], ["With all four", { support: "full" }]],
  },
  support: {
    title: "Enough, and not enough",
    paper: "Wiedemer et al., NeurIPS 2023",
    look: "Compare a compositional network (one part per factor, answers added) with a plain one: on the cross, which suffices, only the first is right everywhere.",
    surprise: "Two full blocks are far more cells than a cross, and no network can be right on the rest: nothing seen ties one block to the other.",
    state: { rows: 8, columns: 8, rule: "sum", support: "plane", model: "composed", width: 32, layers: 1, scale: 1, lr: 0.1, optimiser: "sgd", epochs: 3000 },
    tries: [["Cross: suffices", { support: "plane" }], ["Blocks: does not", { support: "blocks" }], ["Compositional", { model: "composed" }], ["Plain", { model: "one" }]],
  },
  rendering: {
    title: "A bump drawn as a cross",
    paper: "Liang et al., 2025",
    look: "Each cell is a place, and the task is to draw a bump there; choose a place in the unseen middle and compare the truth with the four drawings.",
    surprise: "What adds up its factors draws a cross where a bump should be, and a decoder that first renders each factor as stripes draws the bump.",
    state: { world: "bumps", rows: 10, columns: 10, rule: "sum", support: "donut", model: "one", width: 48, scale: 1, lr: 0.01, optimiser: "adam", epochs: 400 },
    tries: [["Donut", { support: "donut" }], ["Two planes", { support: "plane" }], ["Everything", { support: "full" }]],
  },
  parts: {
    title: "A part that can be removed",
    paper: "Lepori et al., NeurIPS 2023",
    look: "Two parts were each taught one half of the rule and glued together: switch one off and see what is left of each half.",
    surprise: "Trained together on the same cells the same two parts answer as well, and switching one off harms both halves alike.",
    state: { rows: 8, columns: 8, rule: "sum", support: "random", share: 0.6, model: "planted", width: 24, layers: 1, scale: 1, lr: 0.2, optimiser: "sgd", epochs: 1500 },
    tries: [["Taught apart", { model: "planted" }], ["Taught together", { model: "joint" }]],
  },
};
