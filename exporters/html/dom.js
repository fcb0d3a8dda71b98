// Elements. Names come in as text alone: nothing here, and nothing elsewhere,
// parses a string as markup.

const SVG = "http://www.w3.org/2000/svg";

// el("td.number", {title: ...}, child, ...): children are nodes or texts.
function make(node, classes, attributes, children) {
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  return make(document.createElement(tag), classes, attributes, children);
}

function svg(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElementNS(SVG, tag);
  return make(node, classes, attributes, children);
}

function clear(node) {
  while (node.firstChild) node.firstChild.remove();
  return node;
}

// One tooltip for all; `words` are lines, the first one strong.
const tip = {node: null};
function showTip(event, lines) {
  if (!tip.node) {
    tip.node = el("div.tip", {role: "status"});
    document.body.append(tip.node);
  }
  clear(tip.node).append(...lines.map(
    (line, at) => el(at ? "div" : "strong", null, line)));
  const box = tip.node.getBoundingClientRect();
  const x = Math.min(event.clientX + 12, innerWidth - box.width - 8);
  const y = event.clientY + 16 + box.height > innerHeight
    ? event.clientY - box.height - 10 : event.clientY + 16;
  Object.assign(tip.node.style, {
    left: `${Math.max(4, x)}px`, top: `${Math.max(4, y)}px`,
    visibility: "visible"});
}
function hideTip() {
  if (tip.node) tip.node.style.visibility = "hidden";
}
function withTip(node, lines) {
  const words = () => (typeof lines === "function" ? lines() : lines);
  node.addEventListener("pointermove", event => showTip(event, words()));
  node.addEventListener("pointerleave", hideTip);
  return node;
}
