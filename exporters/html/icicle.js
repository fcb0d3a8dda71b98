// The tree of stages: each stage under its caller, as wide as its time; for the
// host and for devices.
const ICICLE_HEIGHT = 22;
const LEAST_WIDTH = 0.0016;  // of the whole: two points of a wide screen

// Rows come in the order of a walk; `level` is their depth.
function icicleTree(rows) {
  const roots = [];
  const open = [];
  for (const row of rows) {
    const node = {row, inside: []};
    open.length = row.level - 1;
    (row.level > 1 && open[row.level - 2] ? open[row.level - 2].inside
      : roots).push(node);
    open[row.level - 1] = node;
  }
  return roots;
}

// Children are as wide as their part of the parent. Parallel children may have
// more in all: they share the parent's width.
function placeIcicle(nodes, valueOf, frame, boxes) {
  const whole = nodes.reduce((sum, node) => sum + valueOf(node), 0);
  let {left} = frame;
  for (const node of nodes) {
    const part = whole ? frame.width * valueOf(node) / whole : 0;
    if (part < LEAST_WIDTH) continue;
    boxes.push({node, left, width: part, depth: frame.depth});
    const inside = node.inside.filter(valueOf);
    const all = inside.reduce((sum, child) => sum + valueOf(child), 0);
    placeIcicle(inside, valueOf, {left, depth: frame.depth + 1,
      width: part * Math.min(1, all / valueOf(node))}, boxes);
    left += part;
  }
}

function icicle(title, roots, valueOf) {
  const boxes = [];
  placeIcicle(roots, valueOf, {left: 0, width: 1, depth: 0}, boxes);
  const deepest = Math.max(...boxes.map(box => box.depth));
  return el("figure", null, el("figcaption", null, title),
    el("div.icicle", {role: "img", "aria-label": title, style: {
      height: `${(deepest + 1) * ICICLE_HEIGHT}px`}},
    boxes.map(({node, left, width, depth}) => {
      const {row} = node;
      const colour = colourOf(row.name);
      const box = el("div.slice", {style: {left: `${100 * left}%`,
        width: `${100 * width}%`, top: `${depth * ICICLE_HEIGHT}px`,
        background: colour, color: inkOn(colour)}},
      width > 0.02 ? row.name : null);
      box.addEventListener("click", () => pin(row.name));
      return ofStage(withTip(box, [row.name,
        `${time(row.total)} in ${count(row.calls)} calls`,
        row.self === null ? null : `self ${time(row.self)}`,
        `${row.where}, ${row.category}`, row.path].filter(Boolean)), row.name);
    })));
}

function insideBand(data) {
  const question = "What is inside?";
  if (!data.paths.length)
    return missing("inside", "stages", "pprof_push and pprof_pop around work");
  const whole = new Set(data.requests.filter(
    row => row.flag === "the request itself").map(row => row.name));
  const roots = icicleTree(data.paths).filter(({row}) =>
    row.category !== "ProfileStep" && !whole.has(row.name));
  const onHost = ({row}) => (row.where === "host" ? row.total || 0 : 0);
  const onDevice = ({row}) => (row.where === "host" ? row.device
    : row.total) || 0;
  const kernels = data.paths.some(row => row.kernels);
  const host = roots.filter(onHost);
  const device = roots.filter(onDevice);
  return band("inside", question,
    host.length ? icicle("threads: stage → what is in it", host, onHost) : null,
    device.length ? icicle("devices: stage → what it submitted", device,
      onDevice) : null,
    leftOutHint(data.leftOut, "tree", data.paths.length),
    kernels || !device.length ? null : el("p.hint", null, "Kernels under " +
      "their stages: pprof-report run --kernels."));
}
