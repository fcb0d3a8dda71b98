// The timeline on its canvas.
const TRACK = 17;
const ROW_GAP = 7;
const LABELS = 150;
const COUNTER_HEIGHT = 34;
const FOLDED_HEIGHT = 30;
const AXIS_HEIGHT = 18;
const FONT = "12px system-ui, \"DejaVu Sans\", sans-serif";

function heightOf(row) {
  return row.isFolded ? FOLDED_HEIGHT : row.tracks.length * TRACK;
}

class Drawing {
  constructor(canvas, picture) {
    this.canvas = canvas;
    this.picture = picture;
    this.context = canvas.getContext("2d");
    this.hatches = new Map();
  }

  // CSS pixels; the canvas has as many as the screen.
  resize(width, height) {
    const scale = devicePixelRatio || 1;
    this.width = width;
    this.fits = new Map();
    this.height = height;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = `${height}px`;
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue(name).trim();
    this.colours = {page: of("--page"), text: of("--text"), dim: of("--dim"),
      rule: of("--rule"), soft: of("--soft"), link: of("--link")};
  }

  begin(from, to) {
    Object.assign(this, {from, to});
    this.theme();
    const {context} = this;
    this.labels = Math.min(LABELS, this.width * 0.36);
    this.scale = (this.width - this.labels) / (to - from);
    context.fillStyle = this.colours.page;
    context.fillRect(0, 0, this.width, this.height);
    context.font = FONT;
    context.textBaseline = "middle";
  }

  x(at) {
    return this.labels + (at - this.from) * this.scale;
  }

  // `axis`: the axis, in front of all rows, so that none covers its figures;
  // else its lines, behind all rows.
  ruler(axis) {
    const {context, colours} = this;
    const step = niceStep((this.to - this.from) / Math.max(2,
      (this.width - this.labels) / 110));
    const unit = timeUnit(Math.max(step, 1));
    const zero = this.picture.start;
    context.strokeStyle = colours.rule;
    context.fillStyle = colours.page;
    if (axis) context.fillRect(0, 0, this.width, AXIS_HEIGHT);
    context.fillStyle = colours.dim;
    context.beginPath();
    for (let at = Math.ceil((this.from - zero) / step) * step;
      at <= this.to - zero; at += step) {
      const x = Math.round(this.x(at + zero)) + 0.5;
      context.moveTo(x, 14);
      context.lineTo(x, axis ? AXIS_HEIGHT : this.height);
      const digits = Math.max(0, -Math.floor(Math.log10(step / unit[1] * 1.01)));
      const text = `${(at / unit[1]).toFixed(digits)} ${unit[0]}`;
      if (axis && x + 3 + context.measureText(text).width < this.width)
        context.fillText(text, x + 3, 8);
    }
    context.stroke();
  }

  // As much of a text as there is room for: names differ at their ends.
  fit(text, room) {
    const key = `${room} ${text}`;
    if (!this.fits.has(key)) this.fits.set(key, this.shorten(text, room));
    return this.fits.get(key);
  }

  shorten(text, room) {
    const {context} = this;
    const without = num => {
      const half = (text.length - num) / 2;
      return `${text.slice(0, Math.ceil(half))}…` +
        text.slice(text.length - Math.floor(half));
    };
    if (context.measureText(text).width <= room) return text;
    let num = 1;
    while (num < text.length &&
      context.measureText(without(num)).width > room) num++;
    return without(num);
  }

  label(text, y, {last = "", bold = false} = {}) {
    const {context, colours} = this;
    if (bold) context.font = `bold ${FONT}`;
    context.fillStyle = colours.page;
    context.fillRect(0, y - TRACK / 2, this.labels - 4, TRACK);
    context.fillStyle = colours.text;
    const room = this.labels - 10;
    const width = last ? context.measureText(last).width : 0;
    const least = bold ? this.shorten(text.slice(0, 200), room - width - 6)
      : this.fit(text.slice(0, 200), room - width - 6);
    context.fillText(least, 2, y);
    if (last) context.fillText(last, room - width, y);
    context.font = FONT;
  }

  row(row, y, lit) {
    const {context} = this;
    const name = (row.limits ? "◆ " : "") + rowLabel(this.picture, row.row);
    if (row.isFolded) {
      this.folded(row, y, lit);
      this.label(`▸ ${name}`, y + TRACK / 2, {last: `≤ ${count(row.most)}`});
      return;
    }
    context.save();
    context.beginPath();
    context.rect(this.labels, y, this.width - this.labels,
      row.tracks.length * TRACK);
    context.clip();
    row.tracks.forEach((track, depth) => {
      const top = y + depth * TRACK;
      if (track.bins) this.bins(track.bins, top, lit);
      this.items(track.items, top, lit);
    });
    context.restore();
    this.label(row.folds ? `▾ ${name}` : name, y + TRACK / 2,
      {bold: row.limits});
  }

  // The number of open ranges over time, a column a point wide.
  folded(row, y, lit) {
    const {context, picture, from, to, labels} = this;
    const num = Math.max(1, Math.floor(this.width - labels));
    const level = row.bins.length ? this.levelFor(row.bins[0]) : 0;
    const values = densityOf(picture, row, {from, to, num, number: level});
    this.alpha(row.row.name, lit);
    context.fillStyle = colourOf(row.row.name);
    values.forEach((value, at) => {
      const height = Math.min(1, value / row.most) * (FOLDED_HEIGHT - 2);
      if (value > 0) context.fillRect(labels + at,
        y + FOLDED_HEIGHT - 1 - Math.max(1, height), 1, Math.max(1, height));
    });
    context.globalAlpha = 1;
  }

  // Waits are hatched.
  fillOf(name, category) {
    const colour = colourOf(name);
    if (category !== WAIT) return colour;
    const key = `${colour} ${this.colours.page}`;
    if (!this.hatches.has(key)) this.hatches.set(key, this.hatch(colour));
    return this.hatches.get(key);
  }

  hatch(colour) {
    const tile = el("canvas", {width: 6, height: 6});
    const context = tile.getContext("2d");
    context.fillStyle = this.colours.page;
    context.fillRect(0, 0, 6, 6);
    context.strokeStyle = colour;
    context.lineWidth = 2;
    for (const x of [-6, 0, 6]) {
      context.moveTo(x - 1, 7);
      context.lineTo(x + 7, -1);
    }
    context.stroke();
    return this.context.createPattern(tile, "repeat");
  }

  // A line for each cause of the machine, and its colour behind the rows.
  cause(cause, bands, y) {
    const {context} = this;
    const [name, colour] = CAUSES[cause];
    for (const [, , , from, to] of bands) {
      if (to < this.from || from > this.to) continue;
      const x = Math.max(this.labels, this.x(from));
      context.fillStyle = colour;
      context.fillRect(x, y, Math.max(1, Math.min(this.x(to), this.width) - x),
        TRACK - 1);
    }
    this.label(name, y + TRACK / 2);
  }

  alpha(name, lit) {
    this.context.globalAlpha = lit && lit !== name ? 0.25 : 1;
  }

  // The level with bins of a pixel or a little more.
  levelFor(track) {
    const wide = this.picture.bin * this.scale;
    return Math.max(0, Math.min(Math.ceil(-Math.log2(wide)),
      Math.log2(track.levels[0].size)));
  }

  // A bin's height is its fill. Neighbours of one look are merged. Edges are on
  // whole pixels: others take twice as long to draw.
  bins(track, top, lit) {
    const {picture, context} = this;
    const number = this.levelFor(track);
    const level = levelOf(track, number);
    const length = picture.bin * 2 ** number;
    const first = Math.max(0,
      Math.floor((this.from - picture.start) / length));
    const last = Math.min(level.size - 1,
      Math.floor((this.to - picture.start) / length));
    const heightAt = at => (level.num[at] || level.fill[at]
      ? Math.max(2, Math.round((TRACK - 2) * Math.min(1, level.fill[at] / 255)))
      : 0);
    for (let at = first; at <= last; at++) {
      const begin = at;
      const height = heightAt(at);
      if (!height) continue;
      while (at < last && level.stage[at + 1] === level.stage[begin] &&
        heightAt(at + 1) === height) at++;
      const stage = picture.stages[level.stage[begin]];
      if (lit) this.alpha(stage && stage[0], lit);
      context.fillStyle = stage ? this.fillOf(stage[0], stage[1])
        : this.colours.dim;
      const x = Math.round(this.x(picture.start + begin * length));
      const right = Math.round(this.x(picture.start + (at + 1) * length));
      context.fillRect(x, top + TRACK - 1 - height, Math.max(1, right - x),
        height);
    }
    context.globalAlpha = 1;
  }

  // Items narrower than a pixel are drawn once a pixel.
  items(items, top, lit) {
    const {context, colours} = this;
    let at = firstAt(items, this.from);
    while (at < items.length && items[at].from <= this.to) {
      const item = items[at];
      const {event} = item;
      const x = Math.round(Math.max(this.x(item.from), this.labels - 2));
      const right = Math.round(Math.min(this.x(item.to), this.width + 2));
      const width = Math.max(1, right - x);
      const colour = event.name ? colourOf(event.name) : colours.dim;
      this.alpha(event.name, lit);
      context.fillStyle = item.waits ? this.fillOf(event.name, WAIT) : colour;
      if (event.kind === "mark") {
        context.fillRect(x, top, 1.5, TRACK - 1);
        context.fillRect(x - 2, top, 5.5, 4);
      } else {
        context.fillRect(x, top, width > 3 ? width - 1 : width, TRACK - 1);
      }
      if (width > 24 && context.globalAlpha === 1) this.name(item, x,
        {top, width, ink: item.waits ? colours.text : inkOn(colour)});
      at++;
      if (width <= 1) {
        const next = this.from + (x + 1 - this.labels) / this.scale;
        if (at < items.length && items[at].to < next)
          at = firstAt(items, next);
      }
    }
    context.globalAlpha = 1;
  }

  name(item, x, {top, width, ink}) {
    const {context} = this;
    context.save();
    context.beginPath();
    context.rect(x, top, width - 2, TRACK);
    context.clip();
    const {name} = item.event;
    const room = context.measureText(name).width + 46 < width;
    const text = room ? `${name}  ${time(item.to - item.from)}`
      : this.fit(name, 4 * Math.floor(width / 4) - 4);
    // Letters have no hatching behind them.
    context.fillStyle = this.colours.page;
    if (item.waits)
      context.fillRect(x + 1, top + 1, context.measureText(text).width + 4,
        TRACK - 3);
    context.fillStyle = ink;
    context.fillText(text, x + 3, top + TRACK / 2);
    context.restore();
  }

  // From the submission of work to its start.
  arrow(fromX, fromY, toX, toY) {
    const {context, colours} = this;
    context.strokeStyle = context.fillStyle = colours.text;
    context.lineWidth = 1.2;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.bezierCurveTo(fromX + 18, fromY, toX - 18, toY, toX, toY);
    context.stroke();
    context.beginPath();
    context.moveTo(toX, toY);
    context.lineTo(toX - 6, toY - 3);
    context.lineTo(toX - 6, toY + 3);
    context.fill();
    context.lineWidth = 1;
  }

  counter(counter, y) {
    const {context, colours, picture} = this;
    const least = Math.min(0, ...counter.values.map(value => value[2]));
    const most = Math.max(...counter.values.map(value => value[3]), least + 1e-9);
    const height = value =>
      (COUNTER_HEIGHT - 6) * (value - least) / (most - least);
    context.fillStyle = colours.link;
    counter.values.forEach(([at, last], number) => {
      const next = counter.values[number + 1];
      const from = Math.max(this.labels, this.x(picture.start +
        at * picture.moment));
      const to = this.x(picture.start +
        (next ? next[0] : picture.moments) * picture.moment);
      if (to < this.labels || from > this.width) return;
      context.globalAlpha = 0.5;
      context.fillRect(from, y + COUNTER_HEIGHT - 4 - height(last), to - from,
        Math.max(1, height(last)));
    });
    context.globalAlpha = 1;
    this.label(counter.name, y + TRACK / 2, {last: `≤ ${
      Number.isInteger(most) ? count(most) : three(most)}`});
  }

  band(from, to, colour, alpha, {top, bottom} = {top: AXIS_HEIGHT,
    bottom: this.height}) {
    const {context} = this;
    if (to < this.from || from > this.to) return;
    const left = Math.max(this.labels, this.x(from));
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.fillRect(left, top, Math.max(1, this.x(to) - left), bottom - top);
    context.globalAlpha = 1;
  }
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= least) ||
    10 * power;
}
