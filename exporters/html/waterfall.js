// A usual request and a slow one on one scale: their work over time.

// Events of a request as parts: a host side, and with device times a wait and a
// device side.
function partsOf(events, at) {
  const parts = [];
  for (const event of events) {
    if (!(event.requests & 1 << at) || event.kind === "mark") continue;
    const common = {event, name: event.name};
    parts.push({...common, kind: "host", from: event.start,
      to: event.start + event.length});
    if (event.stream < 0) continue;
    const end = event.deviceStart + event.deviceLength;
    if (event.deviceStart > event.start)
      parts.push({...common, kind: "wait", from: event.start,
        to: event.deviceStart});
    parts.push({...common, kind: "device", from: event.deviceStart, to: end});
  }
  return parts.sort((a, b) => a.from - b.from);
}

// The names of the request's own range, which is no part of its work.
function wholeNames(request) {
  return new Set(request.cells.filter(cell => cell.whole)
    .map(cell => cell.name));
}

// Every moment counts once, as in the report. It belongs to the device work
// that began first, else to a wait for a device. Else it belongs to the last
// host range to begin, if any.
function momentsOf(request, parts) {
  const whole = wholeNames(request);
  const mine = parts.filter(part => !(part.kind === "host" &&
    (whole.has(part.name) || part.event.stream >= 0)));
  const edges = [...new Set([request.start, request.start + request.length,
    ...mine.flatMap(part => [part.from, part.to])])].sort((a, b) => a - b);
  const found = [];
  for (let at = 0; at + 1 < edges.length; at++) {
    const [from, to] = [edges[at], edges[at + 1]];
    if (from < request.start || to > request.start + request.length) continue;
    const open = mine.filter(part => part.from <= from && part.to >= to);
    const of = kind => open.filter(part => part.kind === kind);
    const part = of("device")[0] || of("wait")[0] || of("host").pop() || null;
    const last = found[found.length - 1];
    if (last && last.part === part) last.to = to;
    else found.push({from, to, part});
  }
  return found;
}

function stripBox(moment, request, scale) {
  const {part} = moment;
  const kind = part ? part.kind : "gap";
  const box = el(`span.moment.${kind}`, {style: {
    left: `${100 * (moment.from - request.start) / scale}%`,
    width: `${100 * (moment.to - moment.from) / scale}%`}});
  if (part) box.style.setProperty("--stage", colourOf(part.name));
  const length = moment.to - moment.from;
  if (part && kind !== "wait" && length / scale > 0.05) {
    box.style.color = inkOn(colourOf(part.name));
    box.append(part.name);
  }
  const words = {device: "on the device", wait: "queueing for the device",
    host: "on the host", gap: "between stages: nothing recorded works for it"};
  withTip(box, [part ? part.name : "between stages", words[kind],
    `${time(length)} from ${time(moment.from - request.start)} on`]);
  return part ? ofStage(box, part.name) : box;
}

// ---- the longest path ----

// Without the stretches of the request's own range.
function pathPieces(picture, request) {
  const whole = wholeNames(request);
  return request.path.map(([stage, device, from, to]) => ({
    name: picture.stages[stage][0], device, from, to}))
    .filter(piece => piece.device || !whole.has(piece.name));
}

// Neighbours of one lane as one.
function pathOn(lanes, pieces) {
  const found = [];
  for (const piece of pieces) {
    const lane = lanes.findIndex(one => one.name === piece.name &&
      one.device === piece.device);
    const last = found[found.length - 1];
    if (lane < 0) continue;
    if (last && last.lane === lane && last.to === piece.from)
      last.to = piece.to;
    else found.push({lane, from: piece.from, to: piece.to});
  }
  return found;
}

const LANE_HEIGHT = 22;  // as in page.css

// Lines from lane to lane; a gap between two stretches is in the lane of the
// next.
function pathLine(lanes, pieces, request, scale) {
  const height = lanes.length * LANE_HEIGHT;
  const x = at => (1000 * (at - request.start) / scale).toFixed(2);
  const y = lane => (lane + 0.5) * LANE_HEIGHT;
  let at = request.start;
  let goes = "";
  let waits = "";
  for (const piece of pathOn(lanes, pieces)) {
    if (piece.from > at)
      waits += `M${x(at)} ${y(piece.lane)}H${x(piece.from)}`;
    goes += goes ? `L${x(at)} ${y(piece.lane)}M${x(piece.from)} ` +
      `${y(piece.lane)}H${x(piece.to)}`
      : `M${x(piece.from)} ${y(piece.lane)}H${x(piece.to)}`;
    at = piece.to;
  }
  const line = (what, d) => svg(`path.${what}`, {d,
    "vector-effect": "non-scaling-stroke"});
  return svg("svg.path", {viewBox: `0 0 1000 ${height}`,
    preserveAspectRatio: "none", style: {height: `${height}px`}},
  line("halo", goes), line("goes", goes), line("waits", waits));
}

function underline(piece, request, scale) {
  return el("span.critical", {style: {
    left: `${100 * (piece.from - request.start) / scale}%`,
    width: `${100 * (piece.to - piece.from) / scale}%`}});
}

const REQUEST_WORDS = {p50: "usual", p99: "slow", max: "slowest"};

function requestStrip({request, moments, pieces}, scale, show) {
  const strip = el("div.request", {"data-request": request.what},
    el("button.what", {type: "button", onclick: () => show(request),
      title: "show it in the timeline"}, el("b", null, request.what), " ",
    time(request.length)),
    el("div.track", {role: "img", "aria-label":
      `${REQUEST_WORDS[request.what]} request, ${time(request.length)}: ` +
      moments.filter(moment => moment.part).slice(0, 12).map(moment =>
        `${moment.part.name} ${time(moment.to - moment.from)}`).join(", ")},
    moments.map(moment => stripBox(moment, request, scale)),
    pieces.map(piece => underline(piece, request, scale))));
  strip.moments = moments;
  return strip;
}

// One a stage and side, in the order in which they begin.
function lanesOf(request, parts) {
  const whole = wholeNames(request);
  const lanes = new Map();
  for (const part of parts) {
    if (whole.has(part.name) && part.kind === "host") continue;
    if (part.kind === "host" && part.event.stream >= 0) continue;
    const device = part.kind === "host" ? 0 : 1;
    const key = `${part.name}\n${device}`;
    if (!lanes.has(key)) lanes.set(key, {name: part.name, device, parts: []});
    lanes.get(key).parts.push(part);
  }
  return [...lanes.values()];
}

function requestLanes({request, parts, pieces}, scale) {
  const lanes = lanesOf(request, parts);
  return lanes.map((lane, number) => {
    const cell = request.cells.find(one => one.name === lane.name &&
      one.device === lane.device);
    return ofStage(el("tr", null,
      el("th", {scope: "row"}, stageName(lane.name)),
      el("td.where", null, lane.device ? "device" : "host"),
      el("td.track", {"aria-hidden": "true"}, el("div.track", null,
        lane.parts.map(part => {
          const box = stripBox({from: part.from, to: part.to, part}, request,
            scale);
          return clear(box);
        })), number ? null : pathLine(lanes, pieces, request, scale)),
      el("td.number", null, cell ? time(cell.time) : ""),
      el("td.number", null, cell && cell.wait ? time(cell.wait) : ""),
      el("td.number", null, cell && cell.critical ? time(cell.critical) : "")),
    lane.name);
  });
}

function requestTable(one, scale) {
  const {request} = one;
  return el("details", {open: request.what !== "p50"},
    el("summary", null, `${request.what}: the `,
      `${REQUEST_WORDS[request.what]} request, ${time(request.length)}`,
      request.queue ? `, ${time(request.queue)} of it queueing` : "",
      request.hop ? `, ${time(request.hop)} between stages` : ""),
    el("div.scroll", {tabindex: "0", role: "group",
      "aria-label": `stages of the ${REQUEST_WORDS[request.what]} request`},
    el("table.waterfall", null,
      el("caption.unseen", null, `Stages of the ${request.what} request`),
      el("thead", null, el("tr", null,
        ["stage", "where"].map(name => el("th", {scope: "col"}, name)),
        el("td"), ["time", "queue", "critical"].map(name => el("th.number",
          {scope: "col", title: {time: "of its ranges",
            queue: "from submission to start on the device",
            critical: "on the longest path through the request"}[name]},
          name)))),
      el("tbody", null, requestLanes(one, scale)))));
}

// ---- the extra time of slow requests ----

const TAIL_WORDS = {"(contention)": "sharing a device",
  "(queue)": "queueing for a device", "(in no stage)": "between stages"};
const LEAST_TAIL = 5;  // percent

function tailName(row) {
  if (row.timed) return stageName(row.name);
  return TAIL_WORDS[row.name] || `${row.name.slice(1, -1)} begins`;
}

function tailLine(data) {
  const whole = data.requests.find(row => row.name === "(request)");
  const rows = data.requests.filter(row => row !== whole &&
    row.tail_ratio >= LEAST_TAIL).sort((a, b) => b.tail - a.tail).slice(0, 3);
  if (!whole || !(whole.tail > 0) || !rows.length) return null;
  const parts = rows.map((row, at) => [at ? ", " : "",
    `${time(row.tail)} (${percent(row.tail_ratio)}) `, tailName(row)]);
  return el("p.tail", {title: "the mean of the slowest hundredth, one at " +
    "least, less that of the tenth around the median; column tail of requests"},
  el("b", null, `Slow ones take ${time(whole.tail)} more`),
  " than usual ones: ", parts);
}

function requestsBand(data, events, show) {
  const {picture} = data;
  const question = "Where does the tail come from?";
  if (!picture.requests.length)
    return {strips: null, full: missing("requests", "requests",
      "pprof_flow, with a number for what serves one")};
  const scale = Math.max(...picture.requests.map(one => one.length));
  const all = picture.requests.map((request, at) => {
    const parts = partsOf(events, at);
    return {request, parts, moments: momentsOf(request, parts),
      pieces: pathPieces(picture, request)};
  });
  const strips = el("div.strips", null, el("h2", null,
    "A usual request and a slow one"), all.map(one =>
    requestStrip(one, scale, show)),
  tailLine(data), el("p.hint", null, "one scale",
    all.some(one => one.parts.some(part => part.kind === "wait"))
      ? " · hatched: queueing for a device" : "",
    " · blank: nothing works for it · underlined: the longest path"));
  return {strips, full: band("requests", question, tailLine(data),
    all.map(one => requestTable(one, scale)),
    el("p.hint", null, "the line is the longest path, dashed where it waits: ",
      "hatched for a device, else for nothing that is recorded"))};
}
