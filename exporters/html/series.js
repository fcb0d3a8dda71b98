// Sums over time: stacked areas, one colour a stage.
const CHART_HEIGHT = 110;  // of the drawing; page.css has the height on screen
const MOST_STACKED = 8;

// Small stages are merged, so that the sum is complete.
function stackOf(list) {
  const sorted = [...list].sort((a, b) => b.sum - a.sum);
  const rest = sorted.splice(
    sorted.length > MOST_STACKED + 1 ? MOST_STACKED : sorted.length);
  if (rest.length) {
    const values = new Float64Array(rest[0].values.length);
    for (const series of rest)
      series.values.forEach((value, at) => { values[at] += value; });
    sorted.push({name: `${rest.length} others`, isRest: true, values,
      sum: values.reduce((sum, value) => sum + value, 0)});
  }
  return sorted;
}

function niceTop(value) {
  if (value <= 1.05) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 5, 7.5, 10].map(step => step * power)
    .find(step => step >= value * 0.999);
}

function areaPath(lower, upper, top) {
  const y = value => (CHART_HEIGHT * (1 - value / top)).toFixed(2);
  let path = "";
  for (let at = 0; at < upper.length; at++)
    path += `${at ? "L" : "M"}${at} ${y(upper[at])}H${at + 1}`;
  for (let at = upper.length - 1; at >= 0; at--)
    path += `L${at + 1} ${y(lower[at])}H${at}`;
  return path + "Z";
}

// A device's states have hatches, which only styles draw: an element, cut out.
function stateArea(series, lower, upper, top) {
  const corner = (at, value) =>
    `${(100 * at / upper.length).toFixed(3)}% ` +
    `${(100 * (1 - value / top)).toFixed(2)}%`;
  const corners = [];
  upper.forEach((value, at) => corners.push(corner(at, value),
    corner(at + 1, value)));
  for (let at = lower.length - 1; at >= 0; at--)
    corners.push(corner(at + 1, lower[at]), corner(at, lower[at]));
  return el(`div.area.${series.state}`, {"data-state": series.state,
    style: {clipPath: `polygon(${corners.join(",")})`}});
}

function stageArea(series, path, pale) {
  const area = svg("path", {d: path, fill: colourOfSeries(series),
    "fill-opacity": pale ? 0.55 : 1});
  return isStage(series) ? ofStage(area, series.name) : area;
}

// A chart of the page's whole time. `pale`: for waiting ranges. `stack`: draws
// all of these, in this order.
function stackedChart(picture, list, options) {
  const stack = options.stack || stackOf(list);
  const lower = new Float64Array(picture.moments);
  const sums = new Float64Array(picture.moments);
  for (const series of stack)
    series.values.forEach((value, at) => { sums[at] += value; });
  const top = niceTop(Math.max(...sums, options.least || 0));
  const areas = stack.map(series => {
    const upper = lower.map((value, at) => value + series.values[at]);
    const area = series.state ? stateArea(series, lower, upper, top)
      : stageArea(series, areaPath(lower, upper, top), options.pale);
    lower.set(upper);
    return area;
  });
  const isOf = kind => area => area instanceof kind;
  const cursor = svg("line", {y1: 0, y2: CHART_HEIGHT, stroke: "var(--text)",
    "vector-effect": "non-scaling-stroke", visibility: "hidden"});
  const chart = svg("svg.chart", {viewBox: `0 0 ${picture.moments} ` +
    CHART_HEIGHT, preserveAspectRatio: "none", role: "img",
  "aria-label": options.label}, areas.filter(isOf(SVGElement)), cursor);
  const momentAt = event => {
    const box = chart.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    return Math.min(picture.moments - 1,
      Math.max(0, Math.floor(part * picture.moments)));
  };
  chart.addEventListener("pointermove", event => {
    const at = momentAt(event);
    cursor.setAttribute("x1", at + 0.5);
    cursor.setAttribute("x2", at + 0.5);
    cursor.setAttribute("visibility", "visible");
    showTip(event, [`${time(at * picture.moment)}: ${three(sums[at])} ` +
      options.unit, ...stack.filter(series => series.values[at] > 0.0005)
      .map(series => `${series.name || series.label || options.label}: ` +
        three(series.values[at])), options.means]);
  });
  chart.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  });
  chart.addEventListener("click", event => {
    const at = picture.start + momentAt(event) * picture.moment;
    setView({from: at - 2 * picture.moment, to: at + 3 * picture.moment,
      band: "timeline"});
    goTo("timeline");
  });
  const names = el("div.keys", null, stack.filter(series => series.name)
    .map(series => el("span.key", null, swatch(series, options.pale),
      series.isRest ? series.name : stageName(series.name))));
  return el("figure.chart", null,
    el("figcaption", null, options.title), el("div.plot", null,
      el("div.axis", {"aria-hidden": "true"}, el("span", null, String(top)),
        el("span", null, "0")), el("div.areas", null,
        areas.filter(isOf(HTMLElement)), chart)),
    el("div.times", {"aria-hidden": "true"}, timeTicks(picture)), names);
}

function isStage(series) {
  return Boolean(series.name) && !series.isRest;
}

function colourOfSeries(series) {
  return isStage(series) ? colourOf(series.name) : "var(--hatch)";
}

function swatch(series, pale) {
  return el("span.swatch", {style: {opacity: pale ? 0.55 : 1,
    background: colourOfSeries(series)}});
}

function timeTicks(picture) {
  const whole = picture.end - picture.start;
  return [0, 0.25, 0.5, 0.75, 1].map(part => el("span", null,
    time(part * whole, timeUnit(whole))));
}

// ---- why is the device idle ----

const IDLE = [["busy_ns", "busy", "works"],
  ["not_submitted_ns", "nothing submitted", "the next range was submitted " +
    "in the gap: the host is late"],
  ["queued_ns", "queued", "the next range was submitted before the gap: the " +
    "device, or what is ahead of it, is late"],
  ["unresolved_ns", "unresolved", "shorter than the error of the clocks"],
  ["no_more_work_ns", "no more work", "no next range in the window"]];

function idleBar(device) {
  const whole = device.wall_ns || 1;
  const parts = IDLE.filter(([key]) => device[key] > 0);
  return el("div.idle", null, el("div.strip", {role: "img", "aria-label":
    parts.map(([key, name]) => `${name} ${time(device[key])}`).join(", ")},
  parts.map(([key, name, means]) => withTip(el(`span.part.${key}`, {style: {
    width: `${100 * device[key] / whole}%`}}),
  [`${name}: ${time(device[key])} of ${time(whole)}`, means]))),
  el("div.keys", null, parts.map(([key, name, means]) => el("span.key",
    {title: means}, el(`span.swatch.${key}`), `${name} `,
    el("b", null, time(device[key])),
    ` ${percent(100 * device[key] / whole)}`))));
}

// The parts of the bar above, moment by moment.
function stateChart(picture, series, device) {
  const stack = IDLE.map(([key, label]) => ({label, ...series.find(one =>
    one.state === key && one.device === device.device)}))
    .filter(one => one.values);
  return stack.length ? stackedChart(picture, stack, {stack, least: 1,
    title: "idle when, and why",
    label: `${device.device} over time, busy or idle by reason`,
    unit: "of the moment recorded", means: "part of the moment; blank is " +
      "outside of windows"}) : null;
}

function workChart(picture, series, device) {
  const list = series.filter(one => one.kind === "busy" &&
    one.device === device.device);
  return list.length ? stackedChart(picture, list, {least: 1,
    title: `${device.device}: what works on it`,
    label: `${device.device} over time, by stage`, unit: "at work",
    means: "ranges at work at a time, on average of the moment; above 1 " +
      "streams overlap"}) : null;
}

function requestsChart(picture, series) {
  const list = series.filter(one => one.kind === "requests");
  return list.length ? stackedChart(picture, list, {pale: true,
    title: "requests in flight", label: "requests in flight",
    unit: "in flight", means: "requests under way at a time, on average"})
    : null;
}

// Beside the answer's table: the busiest device, and the requests in flight.
function smallCharts(data, picture, series) {
  const [device] = data.devices.filter(one => one.busy_ns > 0)
    .sort((a, b) => b.busy_ns - a.busy_ns);
  return el("div.small", {"aria-hidden": "true"},
    device ? workChart(picture, series, device) : null,
    requestsChart(picture, series));
}

function deviceBand(data, picture, series) {
  const question = "Why is the device idle?";
  const devices = data.devices.filter(device => device.busy_ns > 0);
  if (!devices.length)
    return missing("device", "times on a device",
      "pprof_device_push around the work, or run --kernels");
  return band("device", question, devices.map(device =>
    el("div", {"data-device": device.device},
      el("h3", null, device.device), idleBar(device),
      stateChart(picture, series, device), workChart(picture, series, device))));
}

function queueBand(data, picture, series) {
  const question = "Where does it pile up?";
  const waits = series.filter(one => one.kind === "wait");
  const requests = requestsChart(picture, series);
  if (!waits.length && !requests)
    return missing("queue", "what waits",
      "device ranges for what is submitted, pprof_flow for what is in flight");
  const devices = [...new Set(waits.map(one => one.device))];
  return band("queue", question,
    requests,
    devices.map(device => stackedChart(picture,
      waits.filter(one => one.device === device), {pale: true,
        title: `submitted to ${device}, and not begun`,
        label: `waiting for ${device}, by stage`, unit: "waiting",
        means: "ranges between submit and start, on average"})));
}
