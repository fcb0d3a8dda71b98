// A usual request and a slow one, on one scale: what each was doing when.

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

// What the request itself is, is nothing that it does.
function wholeNames(request) {
  return new Set(request.cells.filter(cell => cell.whole)
    .map(cell => cell.name));
}

// Every moment once, as the report has it: work on a device (what began first),
// else waiting for one, else what began last on the host, else nothing.
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

const REQUEST_WORDS = {p50: "usual", p99: "slow", max: "slowest"};

function requestStrip(request, moments, scale, show) {
  const strip = el("div.request", {"data-request": request.what},
    el("button.what", {type: "button", onclick: () => show(request),
      title: "show it in the timeline"}, el("b", null, request.what), " ",
    time(request.length)),
    el("div.track", {role: "img", "aria-label":
      `${REQUEST_WORDS[request.what]} request, ${time(request.length)}: ` +
      moments.filter(moment => moment.part).slice(0, 12).map(moment =>
        `${moment.part.name} ${time(moment.to - moment.from)}`).join(", ")},
    moments.map(moment => stripBox(moment, request, scale))));
  strip.moments = moments;
  return strip;
}

// One line a stage; the critical path is what has a line below it.
function requestLanes(request, parts, scale) {
  const whole = wholeNames(request);
  const critical = new Map(request.cells.filter(cell => cell.critical)
    .map(cell => [`${cell.name}\n${cell.device}`, cell]));
  const lanes = new Map();
  for (const part of parts) {
    if (whole.has(part.name) && part.kind === "host") continue;
    if (part.kind === "host" && part.event.stream >= 0) continue;
    const device = part.kind === "host" ? 0 : 1;
    const key = `${part.name}\n${device}`;
    if (!lanes.has(key)) lanes.set(key, {name: part.name, device, parts: []});
    lanes.get(key).parts.push(part);
  }
  return [...lanes].map(([key, lane]) => {
    const cell = critical.get(key);
    const wait = request.cells.find(one => one.name === lane.name &&
      one.device === lane.device);
    return ofStage(el("tr", null,
      el("th", {scope: "row"}, stageName(lane.name)),
      el("td.where", null, lane.device ? "device" : "host"),
      el("td.track", {"aria-hidden": "true"}, el("div.track", null,
        lane.parts.map(part => {
          const box = stripBox({from: part.from, to: part.to, part}, request,
            scale);
          clear(box);
          if (cell && part.kind !== "wait") box.classList.add("is-critical");
          return box;
        }))),
      el("td.number", null, wait ? time(wait.time) : ""),
      el("td.number", null, wait && wait.wait ? time(wait.wait) : ""),
      el("td.number", null, cell ? time(cell.critical) : "")), lane.name);
  });
}

function requestTable(request, parts, scale) {
  return el("details", {open: request.what !== "p50"},
    el("summary", null, `${request.what}: the `,
      `${REQUEST_WORDS[request.what]} request, ${time(request.length)}, `,
      `of it ${time(request.queue)} queueing, ${time(request.hop)} between `,
      "stages"),
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
      el("tbody", null, requestLanes(request, parts, scale)))));
}

function requestsBand(picture, events, show) {
  const question = "Where does the tail come from?";
  if (!picture.requests.length)
    return {strips: null, full: emptyBand("requests", question,
      "No requests are recorded: give what serves one a number, pprof_flow.")};
  const scale = Math.max(...picture.requests.map(one => one.length));
  const all = picture.requests.map((request, at) => {
    const parts = partsOf(events, at);
    return {request, parts, moments: momentsOf(request, parts)};
  });
  const strips = el("div.strips", null, el("h2", null,
    "A usual request and a slow one"), all.map(({request, moments}) =>
    requestStrip(request, moments, scale, show)),
  el("p.hint", null, "one scale · hatched: queueing for a device · blank: ",
    "between stages"));
  return {strips, full: band("requests", question,
    all.map(({request, parts}) => requestTable(request, parts, scale)))};
}
