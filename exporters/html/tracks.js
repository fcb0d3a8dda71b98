// The rows of the timeline as tracks. The items of a track are sorted and do
// not overlap, so a binary search finds the visible ones.

// Each event has a place in its thread's row, and one in its stream's.
function itemsOf(picture, events) {
  const items = picture.rows.map(() => []);
  for (const event of events) {
    const stage = picture.stages[event.stage];
    items[event.row].push({event, from: event.start,
      to: event.start + event.length, depth: event.depth,
      waits: Boolean(stage) && stage[1] === WAIT});
    if (event.stream >= 0)
      items[event.stream].push({event, from: event.deviceStart,
        to: event.deviceStart + event.deviceLength, depth: 0,
        onDevice: true});
  }
  return items;
}

// Cross-thread ranges have a row for each name. A name may have several rows
// until it is folded.
function groupsOf(picture) {
  const groups = new Map();
  picture.rows.forEach((row, number) => {
    const key = row.kind === "async" ? `${row.run} ${row.name}` : number;
    if (!groups.has(key)) groups.set(key, {row, numbers: [], tracks: []});
    groups.get(key).numbers.push(number);
  });
  return [...groups.values()];
}

const FEW_TRACKS = 3;  // that need not be folded

function fillRow(row, items, bins) {
  const mine = row.numbers.flatMap(number => items[number]);
  row.tracks = stackItems(mine, row.row.kind === "thread");
  row.most = row.tracks.length;  // at a time
  row.busy = row.tracks.length ? row.tracks[0].items.reduce(
    (sum, item) => sum + item.to - item.from, 0) : 0;
  row.bins = bins.filter(one => row.numbers.includes(one.row));
  for (const track of row.bins) {
    let at = track.depth;
    while (row.tracks[at] && row.tracks[at].bins) at++;
    while (row.tracks.length <= at) row.tracks.push({items: [], bins: null});
    row.tracks[at].bins = track;
    row.most += Math.max(...track.levels[0].fill) / 255;
  }
  row.isFolded = row.row.kind === "async" &&
    (row.bins.length > 0 || row.tracks.length > FEW_TRACKS);
  row.folds = row.isFolded;
}

// Cross-thread ranges that do not fold, such as steps, come first. Rows of the
// longest path follow, by their share; then folded rows; then all others, the
// busiest first.
function orderOf(row, shares) {
  row.share = row.numbers.reduce((sum, one) => sum + (shares.get(one) || 0), 0);
  const {kind} = row.row;
  if (kind === "async") return row.folds ? 2 : 0;
  if (row.share) return 1;
  return kind === "thread" ? 3 : 4;
}

function tracksOf(picture, events, bins) {
  const items = itemsOf(picture, events);
  const shares = new Map();
  for (const request of picture.requests)
    for (const [, , from, to, row] of request.path)
      shares.set(row, (shares.get(row) || 0) + to - from);
  const rows = groupsOf(picture);
  for (const row of rows) {
    fillRow(row, items, bins);
    row.order = orderOf(row, shares);
    row.size = Math.round(Math.log2(row.busy + 1));
  }
  return rows.filter(row => row.tracks.length).sort((a, b) =>
    a.row.run - b.row.run || a.order - b.order || b.share - a.share ||
    (a.row.device || 0) - (b.row.device || 0) || b.size - a.size ||
    a.row.lane - b.row.lane);
}

// The number of open items, on average in each of `num` equal parts of [from,
// to]. Bins count on level `number`.
function densityOf(picture, row, {from, to, num, number}) {
  const width = (to - from) / num;
  const sums = new Float64Array(num + 1);  // changes, from each part on
  const rest = new Float64Array(num);
  const add = (begin, end, times) => {
    const [a, b] = [(Math.max(begin, from) - from) / width,
      (Math.min(end, to) - from) / width];
    if (b < 0 || a >= num || b < a) return;
    const [first, last] = [Math.floor(a), Math.min(num - 1, Math.floor(b))];
    if (first === last) {
      rest[first] += times * (b - a);
      return;
    }
    rest[first] += times * (first + 1 - a);
    rest[last] += times * Math.min(1, b - last);
    sums[first + 1] += times;
    sums[last] -= times;
  };
  for (const track of row.tracks)
    for (let at = firstAt(track.items, from); at < track.items.length &&
      track.items[at].from <= to; at++)
      add(track.items[at].from, track.items[at].to, 1);
  for (const track of row.bins) {
    const level = levelOf(track, number);
    const length = picture.bin * 2 ** number;
    const first = Math.floor((from - picture.start) / length);
    const last = Math.min(level.size - 1,
      Math.floor((to - picture.start) / length));
    for (let at = Math.max(0, first); at <= last; at++)
      if (level.fill[at]) add(picture.start + at * length,
        picture.start + (at + 1) * length, level.fill[at] / 255);
  }
  let open = 0;
  return rest.map((value, at) => value + (open += sums[at]));
}

// The number of open ranges of threads, as a series of the picture's moments. A
// program without threads has its other rows.
function threadsAtWork(picture, rows) {
  const num = picture.moments;
  const values = new Float64Array(num);
  const span = {from: picture.start, to: picture.start + num * picture.moment,
    num, number: 0};
  const ofThreads = rows.filter(({row}) => row.kind === "thread");
  for (const row of ofThreads.length ? ofThreads : rows)
    densityOf(picture, row, span).forEach((value, at) => {
      values[at] += value;
    });
  return {name: "", values};
}

// By depth; an item that overlaps another there goes to the next free track.
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
    ? `${picture.runs[row.run].name}: ` : "";
  if (kind === "stream")
    return `${run}${picture.devices[device] || "device"} ` +
      `${name || `stream ${number}`}`;
  if (kind === "async") return run + name;
  return run + (name || (number ? `thread ${number}` : `lane ${lane}`));
}

// Sums of a selection by stage: calls, time, and the union of time.
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
