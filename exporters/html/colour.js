// Each stage has one colour in every picture. It follows from names alone, so
// two runs of a program agree. The first colours are Okabe and Ito's, without
// the one near red, which is kept for problems.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9",
  "#F0E442", "#8C6BB1", "#A6761D", "#44AA99", "#AA4499", "#999933", "#5B5FC7"];
const colours = new Map();
const free = new Set(PALETTE.keys());

function hashOf(text) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash >>> 0;
}

// The names in `first` get the palette as far as it goes; others get a hue of
// their name.
function assignColours(first, rest) {
  for (const name of [...new Set(first)].sort().concat([...rest].sort())) {
    if (colours.has(name)) continue;
    if (!free.size) {
      const hash = hashOf(name);
      colours.set(name,
        `hsl(${hash % 360} ${35 + hash % 30}% ${40 + (hash >>> 8) % 25}%)`);
      continue;
    }
    let slot = hashOf(name) % PALETTE.length;
    while (!free.has(slot)) slot = (slot + 1) % PALETTE.length;
    free.delete(slot);
    colours.set(name, PALETTE[slot]);
  }
}

function colourOf(name) {
  if (!colours.has(name)) assignColours([], [name]);
  return colours.get(name);
}

// Black or white: the readable one on `colour`.
const inks = new Map();
let probe = null;
function inkOn(colour) {
  if (!inks.has(colour)) {
    probe = probe || document.createElement("canvas").getContext("2d",
      {willReadFrequently: true});
    const context = probe;
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map(
      byte => (byte / 255 <= 0.04045 ? byte / 255 / 12.92
        : ((byte / 255 + 0.055) / 1.055) ** 2.4));
    const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    inks.set(colour, light > 0.179 ? "#000" : "#fff");
  }
  return inks.get(colour);
}
