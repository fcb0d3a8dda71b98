// Unpacks the data of the timeline and the series: numbers of seven bits a
// byte, compressed, in base64 (exporters/src/html/picture_pack.c).

function unpacked(id) {
  const text = document.getElementById(id).textContent;
  const bytes = atob(text);
  const packed = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) packed[at] = bytes.charCodeAt(at);
  return new Response(new Blob([packed]).stream()
    .pipeThrough(new DecompressionStream("deflate")));
}

async function unpack(id) {
  return new Numbers(new Uint8Array(await unpacked(id).arrayBuffer()));
}

function unpackJson(id) {
  return unpacked(id).json();
}

class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128 || byte === undefined) return value;
      scale *= 128;
    }
  }

  signed() {
    const bits = this.next();
    return bits % 2 ? -(bits + 1) / 2 : bits / 2;
  }
}

const EVENT_KINDS = ["range", "device", "mark", "counter"];
const FLAG_NAMES = [[1, "cut at the end of a window"], [2, "abandoned"],
  [4, "device times came too late"], [8, "in a graph"],
  [16, "no device time"], [32, "nests in nothing"], [2048, "by a wait"]];

async function loadEvents(picture) {
  const numbers = await unpack("events");
  const events = [];
  let start = 0;
  while (numbers.next()) {
    const kind = numbers.next();
    const event = {kind: EVENT_KINDS[kind & 3], requests: kind >> 6,
      flags: numbers.next(), row: numbers.next(), stage: numbers.next() - 1,
      depth: numbers.next(), start: start += numbers.signed(),
      length: numbers.next(), stream: -1, flow: "", value: 0, by: 0, in: ""};
    if (kind & 4) {
      event.stream = numbers.next();
      event.deviceStart = event.start + numbers.signed();
      event.deviceLength = numbers.next();
      event.error = numbers.next();
    }
    if (kind & 8)
      event.flow = String(BigInt(numbers.next()) * 4294967296n +
        BigInt(numbers.next()));
    if (kind & 16) event.value = numbers.next();
    if (kind & 32) {
      event.by = numbers.next();
      const stage = numbers.next() - 1;
      if (stage >= 0) event.in = picture.stages[stage][0];
    }
    event.name = event.stage < 0 ? "" : picture.stages[event.stage][0];
    events.push(event);
  }
  return events;
}

// As course.h counts them; the names are those of the report's identity.
const STATES = ["not_submitted_ns", "queued_ns", "no_more_work_ns",
  "unresolved_ns", "busy_ns"];

// {kind, device, name or state, values}: the mean number at a time, by moment.
async function loadSeries(picture) {
  const numbers = await unpack("series");
  const kinds = ["busy", "wait", "requests", "state"];
  return Array.from({length: numbers.next()}, () => {
    const series = {kind: kinds[numbers.next()]};
    const device = numbers.next() - 1;
    const stage = numbers.next() - 1;
    series.device = device < 0 ? "" : picture.devices[device];
    if (series.kind === "state") series.state = STATES[stage];
    series.name = stage < 0 || series.state ? "" : picture.stages[stage][0];
    series.values = Float64Array.from({length: picture.moments},
      () => numbers.next() / 1000);
    series.sum = series.values.reduce((sum, value) => sum + value, 0);
    return series;
  });
}

// One level of bins for each row and depth; each further level has half as
// many.
async function loadBins(picture) {
  const numbers = await unpack("bins");
  picture.bin *= 2 ** numbers.next();
  const size = numbers.next();
  const tracks = [];
  picture.rows.forEach((row, number) => {
    for (let depth = 0; depth < row.tracks; depth++) {
      const level = {size, fill: new Float32Array(size),
        stage: new Int16Array(size).fill(-1), num: new Float64Array(size)};
      let at = -1;
      for (let more = numbers.next(); more; more = numbers.next()) {
        at += more;
        level.num[at] = numbers.next();
        level.stage[at] = numbers.next() - 1;
        level.fill[at] = numbers.next();
      }
      tracks.push({row: number, depth, levels: [level]});
    }
  });
  return tracks;
}

// Each bin is two of the level below; it has the stage of the fuller one.
function levelOf(track, number) {
  while (track.levels.length <= number) {
    const below = track.levels[track.levels.length - 1];
    const size = below.size >> 1;
    const level = {size, fill: new Float32Array(size),
      stage: new Int16Array(size), num: new Float64Array(size)};
    for (let at = 0; at < size; at++) {
      const [a, b] = [2 * at, 2 * at + 1];
      level.fill[at] = (below.fill[a] + below.fill[b]) / 2;
      level.stage[at] =
        below.stage[below.fill[b] > below.fill[a] ? b : a];
      if (level.stage[at] < 0)
        level.stage[at] = Math.max(below.stage[a], below.stage[b]);
      level.num[at] = below.num[a] + below.num[b];
    }
    track.levels.push(level);
  }
  return track.levels[number];
}

// The percentage of a stage's calls that are shorter than `ns`.
function placeOf(spread, ns) {
  if (!spread) return null;
  const at = ns < 1 ? 0 : 8 * Math.log2(ns);
  let below = 0;
  let all = 0;
  for (const [place, num] of spread.all) {
    all += num;
    if (place + 1 <= at) below += num;
  }
  return all ? 100 * below / all : null;
}
