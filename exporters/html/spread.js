// Distributions as they are: small multiples on one logarithmic axis.
const SPREAD_HEIGHT = 26;
const MOST_SPREADS = 14;

function lowerNs(place) {
  return 2 ** (place >> 3) * (1 + (place & 7) / 8);
}

function spreadOf(picture, name, timed) {
  return picture && picture.spreads.find(
    one => one.name === name && one.timed === timed);
}

function spreadAxis(spreads) {
  const places = spreads.flatMap(one => one.all.map(([place]) => place));
  const first = 8 * Math.floor(Math.min(...places) / 8);
  const last = 8 * Math.ceil((Math.max(...places) + 1) / 8);
  // Ticks at decades.
  const ticks = [];
  for (let ns = 1; ns <= lowerNs(last); ns *= 10)
    if (ns >= lowerNs(first)) ticks.push(ns);
  return {first, last, ticks, x: ns => 8 * Math.log2(Math.max(ns, 1)) - first};
}

function histogramBars(one, axis) {
  const most = Math.max(...one.all.map(([, num]) => num));
  const steady = new Map(one.steady);
  const height = num => SPREAD_HEIGHT * Math.sqrt(num / most);
  return one.all.map(([place, num]) => {
    const warm = one.steady.length ? Math.min(num, steady.get(place) || 0)
      : num;
    const whole = height(num);
    const part = whole * warm / num;
    const common = {x: place - axis.first, width: 1};
    return [warm ? svg("rect", {...common, y: SPREAD_HEIGHT - part,
      height: part, fill: colourOf(one.name)}) : null,
    warm < num ? svg("rect.cold", {...common, y: SPREAD_HEIGHT - whole,
      height: whole - part}) : null];
  });
}

function decade(ns) {
  const [name, factor] = timeUnit(ns);
  return `${ns / factor} ${name}`;
}

function spreadPlot(one, row, axis, showCall) {
  const marks = [["p50", row.p50], ["p90", row.p90], ["p99", row.p99],
    ["max", row.max]].filter(([, ns]) => ns !== null && ns !== undefined);
  const plot = svg("svg.spread", {viewBox: `0 -4 ${axis.last - axis.first} ` +
    `${SPREAD_HEIGHT + 8}`, preserveAspectRatio: "none", role: "img",
  "aria-label": `${one.name}: ` + marks.map(
    ([name, ns]) => `${name} ${time(ns)}`).join(", ")},
  axis.ticks.map(ns => svg("line.tick", {x1: axis.x(ns), x2: axis.x(ns),
    y1: -4, y2: SPREAD_HEIGHT + 4, "vector-effect": "non-scaling-stroke"})),
  histogramBars(one, axis),
  marks.map(([name, ns]) => svg(`line.mark.${name}`, {x1: axis.x(ns),
    x2: axis.x(ns), y1: -4, y2: SPREAD_HEIGHT + 4,
    "vector-effect": "non-scaling-stroke"})));
  plot.addEventListener("click", () => showCall(one, row.max));
  return withTip(plot, () => [one.name,
    ...marks.map(([name, ns]) => `${name} ${time(ns)}`),
    row.cold_calls ? `${row.cold_calls} cold calls apart (grey)` : null,
    "height: root of the number of calls; click: the slowest in the timeline",
  ].filter(Boolean));
}

function spreadBand(data, picture, showCall) {
  const question = "Is it slow, or unsteady?";
  const found = data.stages.map(row => ({row,
    one: spreadOf(picture, row.name, row.timed)})).filter(({one}) => one);
  if (!found.length)
    return missing("spread", "times of calls", "stages that end");
  found.sort((a, b) => b.row.avg * b.row.calls - a.row.avg * a.row.calls);
  const axis = spreadAxis(found.map(({one}) => one));
  const line = ({row, one}) => ofStage(el("tr", {"data-spread": row.name},
    el("th", {scope: "row"}, stageName(row.name),
      el("small", null, ` ${row.timed}`)),
    el("td.plot", null, spreadPlot(one, row, axis, showCall)),
    ...["p50", "p99", "max"].map(key => el("td.number", {title: row[key]},
      row[key] === null ? "–" : time(row[key])))), row.name);
  const lines = found.map(line);
  const more = lines.slice(MOST_SPREADS);
  more.forEach(node => node.classList.add("is-more"));
  const table = el("table.spreads.hides-more", null,
    el("caption.unseen", null, "Times of calls by stage"),
    el("thead", null, el("tr", null, el("th", {scope: "col"}, "stage"),
      el("td.plot", {"aria-hidden": "true"}, el("div.decades", null,
        axis.ticks.map(ns => el("span", {style: {left:
          `${100 * axis.x(ns) / (axis.last - axis.first)}%`}}, decade(ns))))),
      ["p50", "p99", "max"].map(key => el("th.number", {scope: "col"}, key)))),
    el("tbody", null, lines));
  const open = el("button.more", {type: "button", onclick: () => {
    table.classList.remove("hides-more");
    open.remove();
  }}, `${more.length} more stages`);
  return band("spread", question, el("div.scroll", {tabindex: "0",
    role: "group", "aria-label": question}, table),
  el("p.foot", null, more.length ? open : null,
    el("span.hint", null, "one logarithmic axis; lines: p50, p90, p99, max; " +
      "grey: cold calls")));
}
