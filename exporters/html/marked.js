// Marks in the timeline: troubles of the machine, waits, and the server that
// limits.
const WAIT = "Wait";  // the category

// The machine's troubles, by the names of their findings.
const CAUSES = {"power-cap": ["power cap", "#E69F00"],
  heat: ["heat", "#D55E00"], quota: ["quota", "#8C6BB1"],
  "stood-still": ["stood still", "#5B6670"],
  "shared-device": ["shared device", "#0072B2"],
  neighbours: ["neighbours", "#CC79A7"], steal: ["stolen time", "#009E73"],
  swapping: ["swapping", "#A6761D"]};
const OF_DEVICES = ["power-cap", "heat", "shared-device"];

function causeName([cause, , device]) {
  return OF_DEVICES.includes(cause) ? `${CAUSES[cause][0]} of gpu:${device}`
    : CAUSES[cause][0];
}

// The server that has the first of the names; undefined: none limits.
function limitingOf(limit) {
  if (limit.claim !== "limit") return undefined;
  return limit.names.map(name => limit.servers.find(server =>
    server.name === name || server.stages.some(stage => stage.name === name)))
    .find(Boolean);
}

// Marks the rows of that server: the threads, or the streams of the device,
// that have its stage.
function markLimit(picture, rows, limit) {
  if (!limit || limit.claim !== "limit") return;
  const server = limitingOf(limit);
  const isDevice = Boolean(server) && server.kind === "device";
  for (const row of rows) {
    const run = picture.runs[row.row.run];
    if (limit.process && run.name !== limit.process) continue;
    if (row.row.kind !== (isDevice ? "stream" : "thread")) continue;
    if (isDevice && limit.names.includes(server.name) &&
      picture.devices[row.row.device] !== server.name) continue;
    const has = name => limit.names.includes(name);
    row.limits = row.tracks.some(track =>
      track.items.some(item => has(item.event.name)) || (track.bins &&
        track.bins.levels[0].stage.some(one => one >= 0 &&
          has(picture.stages[one][0]))));
  }
}

// The range of the thread that ended a wait: the one that the log names, or the
// innermost. null: none. `row` is that thread's.
function wakerOf(picture, rows, {event, to, from}) {
  const row = rows.find(one => one.row.kind === "thread" &&
    one.row.run === picture.rows[event.row].run &&
    one.row.number === event.by);
  if (!row) return {row: null, item: null};
  const met = row.tracks.flatMap(track => track.items.slice(
    firstAt(track.items, from))).filter(item => item.from <= to);
  const named = event.in
    ? met.filter(item => item.event.name === event.in) : [];
  const open = met.filter(item => item.to >= to);
  const best = (named.length ? named : open).reduce((found, item) =>
    (!found || item.from >= found.from ? item : found), null);
  return {row, item: best};
}

// `timeline` has the rows.
function wakerWords({picture, rows}, wait) {
  const {row, item} = wakerOf(picture, rows, wait);
  const who = row ? rowLabel(picture, row.row) : `thread ${wait.event.by}`;
  const name = item ? item.event.name : wait.event.in;
  return `ended by ${who}${name ? ` in ${name}` : ""}` +
    (row ? "; a click goes there" : "");
}

// A click goes to the longest stretch of that cause; the sum is the finding's.
function causeChip(timeline, [cause, device, num, ns]) {
  // The longest are first.
  const band = timeline.picture.bands.find(one => one[0] === cause &&
    one[2] === device);
  return el("button.more", {type: "button", "data-cause": cause,
    onclick: () => {
      if (!band) return;
      const more = band[4] - band[3];
      timeline.show(band[3] - more, band[4] + more);
      timeline.told();
    }}, el("span.swatch", {style: {background: CAUSES[cause][1]}}),
  `${causeName([cause, 0, device])}: ${time(ns)} in ${count(num)}`);
}

function legendOf(timeline) {
  const {picture, rows} = timeline;
  const chips = picture.causes.map(sum => causeChip(timeline, sum));
  if (picture.bands_left_out) chips.push(el("span", null,
    `${count(picture.bands_left_out)} short ones are not shown`));
  if (rows.some(row => row.limits))
    chips.push(el("span", null, "◆ limits the run"));
  if (picture.stages.some(stage => stage[1] === WAIT)) chips.push(el("span",
    null, el("span.swatch.waits"), "waits: a click goes to what ended one"));
  return chips.length ? el("p.hint.legend", null, chips) : null;
}
