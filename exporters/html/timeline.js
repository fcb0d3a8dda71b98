// The timeline: pan, zoom, search, select. Keys and pointer do the same.
const LEAST_SPAN = 20;  // ns
const MOST_HEIGHT = 620;

class Timeline {
  constructor(data, picture, events, bins) {
    Object.assign(this, {data, picture, events});
    this.rows = tracksOf(picture, events, bins);
    markLimit(picture, this.rows, data.report.limit);
    this.causes = Object.keys(CAUSES).map(cause => ({cause,
      bands: picture.bands.filter(band => band[0] === cause)
        .sort((a, b) => a[3] - b[3])})).filter(({bands}) => bands.length);
    this.tops = [];
    this.chosen = null;
    this.selection = null;
    this.mark = null;
    this.scroll = 0;
    this.canvas = el("canvas.timeline", {tabindex: "0", role: "application",
      "aria-label": "timeline: arrows or a and d pan, w and s zoom, slash " +
        "searches, n and p step through what was found, Escape clears"});
    this.roll = el("div.roll", null, this.canvas);
    this.box = el("div.canvas", {onscroll: () => {
      this.scroll = this.box.scrollTop;
      this.draw();
    }}, this.roll);
    this.map = el("canvas.minimap", {"aria-hidden": "true"});
    this.drawing = new Drawing(this.canvas, picture);
    this.search = el("input.search", {type: "search", placeholder: "search /",
      "aria-label": "search the timeline by name",
      oninput: () => this.find(this.search.value),
      onkeydown: event => this.searchKey(event)});
    this.said = el("p.said", {"aria-live": "polite"});
    this.panel = el("div.panel");
    this.listen();
    this.home();
  }

  get whole() {
    return Math.max(1, this.picture.end - this.picture.start);
  }

  // Opens at the slowest request, with a little around it.
  home() {
    const {requests} = this.picture;
    const slowest = requests[requests.length - 1];
    if (slowest) this.show(slowest.start - slowest.length * 0.08,
      slowest.start + slowest.length * 1.08);
    else this.show(this.picture.start - this.whole * 0.01,
      this.picture.end + this.whole * 0.01);
  }

  show(from, to) {
    const span = Math.min(Math.max(to - from, LEAST_SPAN), this.whole * 1.2);
    const middle = (from + to) / 2;
    const least = this.picture.start - this.whole * 0.1;
    const most = this.picture.end + this.whole * 0.1;
    this.from = Math.min(Math.max(middle - span / 2, least),
      Math.max(least, most - span));
    this.to = this.from + span;
    this.draw();
  }

  // The address follows once the pointer rests.
  told() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => setView({
      from: Math.round(this.from), to: Math.round(this.to)}, this.follow), 300);
  }

  pan(part) {
    const by = (this.to - this.from) * part;
    this.show(this.from + by, this.to + by);
    this.told();
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
    this.told();
  }

  timeAt(x) {
    const {labels, width} = this.drawing;
    return this.from + (x - labels) / (width - labels) * (this.to - this.from);
  }

  // ---- drawing ----

  draw() {
    if (this.drawing.width && !this.waits) {
      this.waits = true;
      requestAnimationFrame(() => {
        this.waits = false;
        this.paint();
      });
    }
  }

  layout() {
    let y = AXIS_HEIGHT + 2 + this.causes.length * TRACK;
    this.tops = this.rows.map(row => {
      const top = y;
      y += heightOf(row) + ROW_GAP;
      return top;
    });
    this.counterTops = this.picture.counters.map(() => {
      const top = y;
      y += COUNTER_HEIGHT;
      return top;
    });
    this.full = y + 4;
    const height = Math.min(this.full, MOST_HEIGHT);
    this.box.style.height = `${height}px`;
    this.roll.style.height = `${this.full}px`;
    this.scroll = this.box.scrollTop;
    this.drawing.resize(this.box.clientWidth, height);
    this.canvas.style.width = `${this.box.clientWidth}px`;
    this.paint();
  }

  resize() {
    if (this.box.clientWidth !== this.drawing.width) this.layout();
  }

  foldAll() {
    const folds = this.rows.filter(row => row.folds);
    const isFolded = !folds.some(row => row.isFolded);
    for (const row of folds) row.isFolded = isFolded;
    this.layout();
  }

  fold(row) {
    row.isFolded = !row.isFolded;
    this.layout();
  }

  paint() {
    const {drawing, picture} = this;
    const began = performance.now();
    const lit = view.stage || this.lit || null;
    drawing.begin(this.from, this.to);
    const request = picture.requests[picture.requests.length - 1];
    if (request) drawing.band(request.start, request.start + request.length,
      drawing.colours.soft, 1);
    this.paintMachine();
    drawing.ruler(false);
    this.rows.forEach((row, at) => {
      const y = this.tops[at] - this.scroll;
      if (y + heightOf(row) > 0 && y < drawing.height)
        drawing.row(row, y, lit);
    });
    picture.counters.forEach((counter, at) =>
      drawing.counter(counter, this.counterTops[at] - this.scroll));
    for (const [, , , at] of picture.windows)
      drawing.band(at, at, drawing.colours.text, 0.5);
    if (this.selection)
      drawing.band(...this.selection, drawing.colours.link, 0.18);
    if (this.mark !== null)
      drawing.band(this.mark, this.mark, drawing.colours.link, 1);
    if (this.chosen) this.paintFlow();
    this.causes.forEach(({cause, bands}, at) =>
      drawing.cause(cause, bands, this.causeTop(at)));
    drawing.ruler(true);
    this.paintMap();
    this.lastPaint = performance.now() - began;
  }

  causeTop(at) {
    return AXIS_HEIGHT + 2 + at * TRACK - this.scroll;
  }

  // Bands are behind the rows of their run.
  paintMachine() {
    if (!this.causes.length) return;
    const extents = this.picture.runs.map((_, run) => this.extent(run));
    for (const {cause, bands} of this.causes)
      for (const [, run, , from, to] of bands)
        this.drawing.band(from, to, CAUSES[cause][1], 0.25, extents[run]);
  }

  extent(run) {
    const all = {top: AXIS_HEIGHT, bottom: this.drawing.height};
    if (this.picture.runs.length < 2) return all;
    const first = this.rows.findIndex(row => row.row.run === run);
    const next = this.rows.findIndex((row, at) => at > first &&
      row.row.run !== run);
    if (first < 0) return {top: 0, bottom: 0};
    return {top: Math.max(all.top, this.tops[first] - this.scroll),
      bottom: next < 0 ? all.bottom : this.tops[next] - this.scroll};
  }

  // Outlines the chosen item. Arrows go from submissions of its request to
  // their device sides, and from a wait to its end.
  paintFlow() {
    const {event} = this.chosen;
    const same = event.flow ? this.events.filter(
      other => other.flow === event.flow && other.stream >= 0) : [event];
    for (const one of same.slice(0, 200)) {
      if (one.stream < 0) continue;
      const from = this.placeOf(one, false);
      const to = this.placeOf(one, true);
      if (from && to) this.drawing.arrow(
        this.drawing.x(one.start), from, this.drawing.x(one.deviceStart), to);
    }
    const y = this.placeOf(event, Boolean(this.chosen.onDevice));
    if (!y) return;
    const {context, colours} = this.drawing;
    const end = this.waited && this.placeOf(this.waited.event, false);
    if (end) this.drawing.arrow(this.drawing.x(Math.max(this.chosen.from,
      Math.min(this.chosen.to, this.waited.to))), y,
    this.drawing.x(this.waited.to), end);
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.strokeRect(this.drawing.x(this.chosen.from), y - TRACK / 2,
      Math.max(2, this.drawing.x(this.chosen.to) -
        this.drawing.x(this.chosen.from)), TRACK - 1);
    context.lineWidth = 1;
  }

  placeOf(event, onDevice) {
    const number = onDevice ? event.stream : event.row;
    const at = this.rows.findIndex(row => row.numbers.includes(number));
    if (at < 0) return 0;
    if (this.rows[at].isFolded)
      return this.tops[at] - this.scroll + FOLDED_HEIGHT / 2;
    const depth = this.rows[at].tracks.findIndex(track => {
      const first = firstAt(track.items, onDevice ? event.deviceStart
        : event.start);
      return track.items.slice(first, first + 4).some(
        item => item.event === event && Boolean(item.onDevice) === onDevice);
    });
    return depth < 0 ? 0
      : this.tops[at] - this.scroll + depth * TRACK + TRACK / 2;
  }

  // What the mini-map shows: devices and requests, or else the threads.
  get mapSeries() {
    const found = this.series.filter(({kind}) => kind === "busy" ||
      kind === "requests");
    if (found.length) return found;
    this.threads = this.threads || threadsAtWork(this.picture, this.rows);
    return [this.threads];
  }

  paintMap() {
    const context = this.map.getContext("2d");
    const {width, labels} = this.drawing;
    const {colours} = this.drawing;
    this.map.width = width;
    this.map.height = 22;
    const x = at => labels + (width - labels) * Math.min(1, Math.max(0,
      (at - this.picture.start) / this.whole));
    context.fillStyle = colours.soft;
    context.fillRect(labels, 0, width, 22);
    for (const series of this.series ? this.mapSeries : []) {
      const most = Math.max(...series.values) || 1;
      context.fillStyle = series.name ? colourOf(series.name) : colours.dim;
      context.globalAlpha = series.name ? 0.6 : 0.25;
      series.values.forEach((value, at) => {
        const height = 22 * value / Math.max(most, 1);
        context.fillRect(x(this.picture.start + at * this.picture.moment),
          22 - height, Math.max(1, (width - labels) / this.picture.moments),
          height);
      });
    }
    context.globalAlpha = 1;
    context.strokeStyle = colours.text;
    const left = Math.min(x(this.from), width - 4) + 0.5;
    context.strokeRect(left, 1, Math.max(3, x(this.to) - left - 0.5), 20);
  }

  // ---- pointer and keys ----

  rowAt(y) {
    return this.rows[this.tops.findIndex((top, row) => y > AXIS_HEIGHT &&
      y + this.scroll >= top &&
      y + this.scroll < top + heightOf(this.rows[row]))];
  }

  itemAt(x, y) {
    const at = this.timeAt(x);
    const reach = 2 * (this.to - this.from) / this.drawing.width;
    const row = this.rowAt(y);
    const line = Math.floor((y - this.causeTop(0)) / TRACK);
    if (y > AXIS_HEIGHT && x >= this.drawing.labels && this.causes[line])
      return this.bandAt(this.causes[line].bands, at, reach);
    if (!row || x < this.drawing.labels) return null;
    if (row.isFolded) return this.densityAt(row, at, reach);
    const top = this.tops[this.rows.indexOf(row)];
    const track = row.tracks[Math.floor((y + this.scroll - top) / TRACK)];
    if (!track) return null;
    const item = track.items[firstAt(track.items, at - reach)];
    if (item && item.from <= at + reach) return item;
    return track.bins ? this.binAt(track.bins, at) : null;
  }

  bandAt(bands, at, reach) {
    const band = bands.find(([, , , from, to]) => from <= at + reach &&
      to >= at - reach);
    return band ? {isBin: true, band} : null;
  }

  densityAt(row, at, reach) {
    const [value] = densityOf(this.picture, row, {from: at - reach,
      to: at + reach, num: 1, number: 0});
    return {isBin: true, isFolded: true, name: row.row.name, value};
  }

  binAt(track, at) {
    const number = this.drawing.levelFor(track);
    const level = levelOf(track, number);
    const length = this.picture.bin * 2 ** number;
    const bin = Math.floor((at - this.picture.start) / length);
    if (!(level.num[bin] > 0)) return null;
    const stage = this.picture.stages[level.stage[bin]];
    return {isBin: true, num: level.num[bin], fill: level.fill[bin], length,
      name: stage ? stage[0] : ""};
  }

  words(item) {
    if (item.band) return [causeName(item.band), `${time(item.band[4] -
      item.band[3])}, from ${time(item.band[3] - this.picture.start)} on`];
    if (item.isFolded) return [item.name,
      `${three(item.value)} at a time; a click shows each`];
    if (item.isBin) return [`${count(item.num)} short ranges`,
      `most of it ${item.name}; ${percent(item.fill / 2.55)} of ` +
      `${time(item.length)}`];
    const {event} = item;
    const timed = item.onDevice ? "device" : "host";
    const row = this.data.stages.find(one => one.name === event.name &&
      one.timed === timed);
    const length = item.to - item.from;
    const place = placeOf(spreadOf(this.picture, event.name, timed), length);
    return [event.name || event.kind, `${time(length)} on the ${timed}, from ` +
      `${time(item.from - this.picture.start)} on`,
    event.value ? `number ${event.value}` : null,
    event.stream >= 0 ? `submitted ${time(event.start - this.picture.start)}` +
      `, waited ${time(Math.max(0, event.deviceStart - event.start))}` +
      (event.error ? `, ± ${time(event.error)}` : "") : null,
    place === null ? null : `longer than ${Math.floor(place)} % of its calls`,
    row ? `${row.calls} calls: p50 ${time(row.p50)}, p99 ${time(row.p99)}`
      : null,
    event.flow ? `request ${event.flow}` : null,
    event.by ? wakerWords(this, item) : null,
    ...FLAG_NAMES.filter(([bit]) => event.flags & bit).map(([, text]) => text),
    ].filter(Boolean);
  }

  // From a wait to the range that ended it.
  goToWaker(wait) {
    const {row, item} = wakerOf(this.picture, this.rows, wait);
    if (!row) {
      this.choose(wait);
      return;
    }
    this.choose(item || wait);
    this.waited = wait;
    const words = this.words(wait)[0];
    this.said.textContent = `${rowLabel(this.picture, row.row)} ended ` +
      `\`${words}\` after ${time(wait.to - wait.from)}` +
      (item ? ` · ${this.words(item).join(" · ")}` : "");
    const half = (this.to - this.from) / 2;
    const goal = item && item.from > wait.from ? item.from : wait.to;
    if (goal < this.from || goal > this.to) this.show(goal - half, goal + half);
    this.showRow(row);
    this.told();
  }

  showRow(row) {
    const top = this.tops[this.rows.indexOf(row)];
    const bottom = top + heightOf(row);
    const {height} = this.drawing;
    if (top - AXIS_HEIGHT < this.scroll || bottom > this.scroll + height)
      this.box.scrollTop = top - height / 2;
  }

  listen() {
    const {canvas} = this;
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      if (event.shiftKey) this.pan(event.deltaY / 1000);
      else this.zoom(2 ** (event.deltaY / 250), this.timeAt(event.offsetX));
    }, {passive: false});
    canvas.addEventListener("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      this.held = {x: event.offsetX, y: event.offsetY, from: this.from,
        to: this.to, scroll: this.scroll, moved: false,
        selects: event.shiftKey || event.offsetY < 16};
    });
    canvas.addEventListener("pointermove", event => this.move(event));
    canvas.addEventListener("pointerup", event => this.release(event));
    canvas.addEventListener("pointerleave", () => {
      hideTip();
      this.lit = null;
    });
    canvas.addEventListener("dblclick", event => {
      const item = this.itemAt(event.offsetX, event.offsetY);
      if (item && !item.isBin) this.fit(item);
    });
    canvas.addEventListener("keydown", event => this.key(event));
    this.map.addEventListener("pointerdown", event => {
      const {labels, width} = this.drawing;
      const at = this.picture.start + (event.offsetX - labels) /
        (width - labels) * this.whole;
      const half = (this.to - this.from) / 2;
      this.show(at - half, at + half);
      this.told();
    });
    this.follow = () => {
      if (view.from && view.to && Number(view.to) > Number(view.from))
        this.show(Number(view.from), Number(view.to));
      else this.draw();
    };
    onView(this.follow);
  }

  move(event) {
    const {held} = this;
    if (held) {
      const dx = event.offsetX - held.x;
      held.moved = held.moved || Math.abs(dx) + Math.abs(event.offsetY - held.y)
        > 3;
      if (!held.moved) return;
      if (held.selects) {
        this.selection = [this.timeAt(held.x), this.timeAt(event.offsetX)]
          .sort((a, b) => a - b);
        this.draw();
        return;
      }
      const by = dx / this.drawing.scale;
      this.box.scrollTop = held.scroll + held.y - event.offsetY;
      this.show(held.from - by, held.to - by);
      return;
    }
    const item = this.itemAt(event.offsetX, event.offsetY);
    this.lit = item && !item.isBin ? item.event.name : null;
    if (item) showTip(event, this.words(item));
    else hideTip();
  }

  release(event) {
    const {held} = this;
    this.held = null;
    if (!held) return;
    if (held.selects && held.moved) this.sum();
    else if (held.moved) this.told();
    else this.click(event.offsetX, event.offsetY);
  }

  click(x, y) {
    const row = this.rowAt(y);
    if (row && row.folds && (row.isFolded || x < this.drawing.labels))
      this.fold(row);
    else this.clickItem(this.itemAt(x, y));
  }

  clickItem(item) {
    if (item && item.waits && item.event.by) this.goToWaker(item);
    else this.choose(item);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {a: () => this.pan(-0.15), d: () => this.pan(0.15),
      ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15),
      w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7),
      "+": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7),
      ArrowUp: () => this.rollBy(-40), ArrowDown: () => this.rollBy(40),
      o: () => this.foldAll(),
      f: () => this.chosen && this.fit(this.chosen),
      m: () => { this.mark = (this.from + this.to) / 2; this.draw(); },
      n: () => this.step(1), p: () => this.step(-1),
      Home: () => { this.home(); this.told(); },
      "0": () => { this.show(this.picture.start, this.picture.end);
        this.told(); },
      "/": () => this.search.focus(), Escape: () => this.clear()};
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  rollBy(by) {
    this.box.scrollTop += by;
  }

  clear() {
    this.chosen = this.waited = this.selection = this.mark = null;
    this.search.value = "";
    this.found = [];
    this.said.textContent = "";
    clear(this.panel);
    this.draw();
  }

  // ---- one, several ----

  choose(item) {
    this.chosen = item && !item.isBin ? item : null;
    this.waited = null;
    this.said.textContent = item ? this.words(item).join(" · ") : "";
    this.draw();
  }

  fit(item) {
    const more = Math.max((item.to - item.from) * 0.2, LEAST_SPAN);
    const row = this.rows.find(one => one.isFolded &&
      one.numbers.includes(item.event.row) && !item.onDevice);
    if (row) this.fold(row);
    this.choose(item);
    this.show(item.from - more, item.to + more);
    this.told();
  }

  find(text) {
    const wanted = text.toLowerCase();
    this.found = wanted ? this.rows.flatMap(row => row.tracks.flatMap(
      track => track.items.filter(
        item => item.event.name.toLowerCase().includes(wanted))))
      .sort((a, b) => a.from - b.from) : [];
    this.at = -1;
    this.said.textContent = wanted
      ? `${count(this.found.length)} found; n and p step` : "";
  }

  searchKey(event) {
    if (event.key === "Escape") {
      this.clear();
      this.canvas.focus();
    } else if (event.key === "Enter") {
      this.canvas.focus();
      this.step(1);
    }
  }

  step(by) {
    if (!this.found || !this.found.length) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.fit(this.found[this.at]);
    this.said.textContent = `${this.at + 1} of ${this.found.length}: ` +
      this.said.textContent;
  }

  showSlowest(name, timed) {
    let slowest = null;
    for (const row of this.rows)
      for (const track of row.tracks)
        for (const item of track.items)
          if (item.event.name === name &&
            (timed === "device") === Boolean(item.onDevice) &&
            (!slowest || item.to - item.from > slowest.to - slowest.from))
            slowest = item;
    if (slowest) this.fit(slowest);
  }

  sum() {
    const [from, to] = this.selection;
    const {stages, hasBins} = sumsOf(this.rows, from, to);
    const columns = [["stage", null, row => row.name],
      ["where", null, row => row.where], ["calls", null, row => row.calls],
      ["sum", "ns", row => row.sum], ["union", "ns", row => row.union]]
      .map(([name, unit, of]) => ({name, number: name !== "stage" &&
        name !== "where", sort: of, title: {sum: "time in the selection",
        union: "moments of it, each once"}[name], text: row => (unit
        ? time(of(row)) : String(of(row)))}));
    clear(this.panel).append(el("p", null, `Selected: ${time(to - from)} from `,
      `${time(from - this.picture.start)} on`, hasBins
        ? " (of short ranges only those told one by one)" : ""),
    sortableTable(columns, stages.slice(0, 40), {caption: "selection"}));
  }
}

function timelineBand(data, picture, timeline) {
  const told = timeline.events.length;
  const left = picture.all - told;
  const words = [picture.rows_left_out ? "The first 512 rows." : null,
    left > 0 && timeline.rows.some(row => row.tracks.some(
      track => track.bins)) ? `${count(told)} of ${count(picture.all)} ` +
      "events one by one, with the slowest of every stage; the rest as bars " +
      "of how full a moment is." : null].filter(Boolean);
  return band("timeline", "What happened when?",
    el("div.bar-of-tools", null, timeline.search,
      picture.requests.length ? el("button.more", {type: "button",
        onclick: () => {
          timeline.home();
          timeline.told();
        }}, "the slowest request") : null,
      el("button.more", {type: "button", onclick: () => {
        timeline.show(picture.start, picture.end);
        timeline.told();
      }}, "whole run"),
      el("span.hint", null, "drag pans, wheel zooms, shift-drag selects, ",
        "double click fits, ▸ opens; keys: wasd, / f m n o p 0 Esc")),
    timeline.map, legendOf(timeline), timeline.box, timeline.said,
    timeline.panel, words.length ? el("p.hint", null,
      `${words.join(" ")} All, for Perfetto: `,
      el("code", null, "pprof-report trace LOG")) : null);
}
