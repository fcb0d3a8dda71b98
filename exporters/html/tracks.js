// The rows of the timeline as tracks: things that do not overlap, in order, so
// that what is in sight is found by halving.

// Each event has a place in its thread's row, and one in its stream's.
function tracksOf(picture, events, bins) {
  const rows = picture.rows.map((row, number) => ({row, number, tracks: []}));
  const items = rows.map(() => []);
  for (const event of events) {
    items[event.row].push({event, from: event.start,
      to: event.start + event.length, depth: event.depth});
    if (event.stream >= 0)
      items[event.stream].push({event, from: event.deviceStart,
        to: event.deviceStart + event.deviceLength, depth: 0,
        onDevice: true});
  }
  rows.forEach((row, number) => {
    row.tracks = stackItems(items[number], row.row.kind === "thread");
    for (const track of bins.filter(one => one.row === number)) {
      while (row.tracks.length <= track.depth)
        row.tracks.push({items: [], bins: null});
      row.tracks[track.depth].bins = track;
    }
  });
  return rows.filter(row => row.tracks.length).sort((a, b) =>
    a.row.run - b.row.run || ROW_ORDER[a.row.kind] - ROW_ORDER[b.row.kind] ||
    (a.row.device || 0) - (b.row.device || 0) || a.row.lane - b.row.lane);
}

// What spans threads comes first.
const ROW_ORDER = {async: 0, thread: 1, stream: 2};

// By depth; where that does not keep them apart, in the first free track.
function stackItems(items, byDepth) {
  items.sort((a, b) => a.from - b.from || b.to - a.to);
  const tracks = [];
  for (const item of items) {
    let at = byDepth ? item.depth : 0;
    while (tracks[at] && tracks[at].end > item.from) at++;
    while (tracks.length <= at) tracks.push({items: [], bins: null, end: -1});
    tracks[at].items.push(item);
    tracks[at].end = Math.max(item.to, item.from);
  }
  return tracks;
}

// The first item that ends behind `time`.
function firstAt(items, time) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].to < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rowLabel(picture, row) {
  const {kind, name, number, device, lane} = row;
  const run = picture.runs.length > 1
    ? `${picture.runs[row.run].pid}: ` : "";
  if (kind === "stream")
    return `${run}${picture.devices[device] || "device"} ` +
      `${name || `stream ${number}`}`;
  if (kind === "async")
    return run + (lane ? `across, from ${name || `lane ${lane}`}` : "steps");
  return run + (name || (number ? `thread ${number}` : `lane ${lane}`));
}

// Sums of a selection: calls, time, and the union of it, by stage.
function sumsOf(rows, from, to) {
  const stages = new Map();
  let hasBins = false;
  for (const row of rows)
    for (const track of row.tracks) {
      hasBins = hasBins || Boolean(track.bins);
      for (let at = firstAt(track.items, from); at < track.items.length; at++) {
        const item = track.items[at];
        if (item.from > to) break;
        const key = `${item.event.name}\n${item.onDevice ? "device" : "host"}`;
        if (!stages.has(key)) stages.set(key, {name: item.event.name,
          where: item.onDevice ? "device" : "host", calls: 0, sum: 0,
          spans: []});
        const sum = stages.get(key);
        const span = [Math.max(item.from, from), Math.min(item.to, to)];
        sum.calls++;
        sum.sum += span[1] - span[0];
        sum.spans.push(span);
      }
    }
  for (const sum of stages.values()) {
    sum.spans.sort((a, b) => a[0] - b[0]);
    sum.union = 0;
    let end = -Infinity;
    for (const [begin, stop] of sum.spans) {
      sum.union += Math.max(0, stop - Math.max(begin, end));
      end = Math.max(end, stop);
    }
  }
  return {hasBins, stages: [...stages.values()].sort((a, b) => b.sum - a.sum)};
}
