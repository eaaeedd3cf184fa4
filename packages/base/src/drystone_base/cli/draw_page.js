'use strict';
// What needs no page: tested by itself.
const NAME = 0, OP = 1, TREE = 2, PANEL = 3, DEVICE = 4, INPUTS = 5, ATTRS = 6, OUTPUTS = 7, CALLS = 8;

const logic = {
  // Numbers of the nodes whose name or op has every word of the text, best first, and how many there are.
  find(nodes, text, most) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return {numbers: [], total: 0};
    const found = [];
    nodes.forEach((node, number) => {
      const name = node[NAME].toLowerCase(), op = node[OP].toLowerCase();
      const last = name.slice(name.lastIndexOf('/') + 1);
      let rank = 0;
      for (const word of words) {
        if (!name.includes(word) && !op.includes(word)) return;
        const own = [name, last, op];
        rank += own.includes(word) ? 0 : own.some(s => s.startsWith(word)) ? 1
          : last.includes(word) || op.includes(word) ? 2 : 3;
      }
      found.push([rank, name.length, number]);
    });
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    return {numbers: found.slice(0, most).map(f => f[2]), total: found.length};
  },

  // By number, who reads a node: [user, output], output -1 for an order.
  users(nodes) {
    const found = nodes.map(() => []);
    nodes.forEach((node, number) => {
      for (const [source, output] of node[INPUTS]) found[source].push([number, output]);
    });
    return found;
  },

  // A view box grown by a factor around a point of the window (0 to 1 along each side).
  zoomed([x, y, w, h], factor, fx, fy) {
    const f = Math.min(Math.max(factor, 20 / w), 2e5 / w);
    return [x + w * (1 - f) * fx, y + h * (1 - f) * fy, w * f, h * f];
  },

  // The view box that shows a picture of this size in a window: whole or, where that is too small to read, its top.
  fitted(width, height, window) {
    const [w, h] = window;
    let box = [0, 0, width, height];
    if (height * w > width * 2.2 * h) box[3] = width * 2.2 * h / w;
    if (width < w) box = [-(w - width) / 2, 0, w, box[3]];
    return box;
  },

  // What is shown first: the whole, unless nobody could read it; then the top, around a point.
  first(width, height, window, x) {
    const box = logic.fitted(width, height, window), w = window[0] * 1.6;
    if (box[2] <= w) return box;
    const left = Math.min(Math.max(x - w / 2, box[0]), box[0] + box[2] - w);
    return [left, box[1], w, window[1] * 1.6];
  },

  // The view box of the same scale with a point in its middle.
  centred([, , w, h], x, y) {
    return [x - w / 2, y - h / 2, w, h];
  },

  // The panels above one, itself last.
  trail(panels, id) {
    const found = [];
    for (let k = id; k && panels[k] && !found.includes(k); k = panels[k].up) found.unshift(k);
    return found;
  },

  // What an address after # means: a panel and, after a slash, a node.
  place(hash, panels, nodes) {
    const [panel, node] = hash.replace(/^#/, '').split('/');
    const number = /^n\d+$/.test(node || '') ? Number(node.slice(1)) : -1;
    const known = number >= 0 && number < nodes.length;
    return {panel: Object.hasOwn(panels, panel) ? panel : 'p0', node: known ? number : -1};
  },
};

function start(data) {
  const {panels, nodes, trees} = data, users = logic.users(nodes);
  const at = id => document.getElementById(id);
  const view = at('view'), search = at('search'), results = at('results'), details = at('details');
  const outline = at('outline'), menu = at('menu');
  let box = [0, 0, 1, 1], shown = '', chosen = -1, marked = 0, listed = [];

  const made = (tag, text, onclick) => {
    const element = document.createElement(tag);
    element.textContent = text;
    if (onclick) {
      element.onclick = onclick;
      element.tabIndex = 0;
      element.onkeydown = e => { if (e.key === 'Enter') onclick(e); };
    }
    return element;
  };
  const move = () => view.firstChild.setAttribute('viewBox', box.join(' '));
  const size = () => [view.clientWidth || 1, view.clientHeight || 1];
  const remember = () => history.replaceState(null, '', '#' + shown + (chosen < 0 ? '' : '/n' + chosen));

  function fit() {
    const [, , w, h] = view.firstChild.dataset.size.split(' ').map(Number);
    box = logic.fitted(w, h, size());
    move();
  }
  function show(id) {
    if (!panels[id]) return;
    if (shown !== id) {
      shown = id;
      view.innerHTML = panels[id].svg;
      const svg = view.firstChild;
      svg.dataset.size = svg.getAttribute('viewBox');
      svg.setAttribute('preserveAspectRatio', 'xMidYMin meet');
      for (const g of svg.querySelectorAll('[data-open],[data-n]')) {
        g.setAttribute('tabindex', '0');
        g.setAttribute('role', 'button');
      }
      const top = svg.querySelector('[data-n],[data-open]'), b = top && top.getBBox();
      const [, , w, h] = svg.dataset.size.split(' ').map(Number);
      box = logic.first(w, h, size(), b ? b.x + b.width / 2 : w / 2);
      move();
    }
    const crumbs = at('crumbs');
    crumbs.textContent = '';
    logic.trail(panels, id).forEach((k, n) => {
      if (n) crumbs.append(' / ');
      crumbs.append(made('a', panels[k].name, () => open(k)));
    });
    for (const a of outline.querySelectorAll('a')) a.classList.toggle('on', a.dataset.open === id);
    mark(false);
    remember();
  }
  function open(id) {
    choose(-1);
    show(id);
    drawer(false);
  }
  // Show which box is the chosen node's, and with ``move`` bring it to the middle.
  function mark(moves) {
    for (const old of view.querySelectorAll('.on')) old.classList.remove('on');
    const found = chosen < 0 ? null : view.querySelector(`[data-n="${chosen}"]`);
    if (!found) return;
    found.classList.add('on');
    if (!moves) return;
    const b = found.getBBox();
    if (box[2] > 1200) box = logic.zoomed(box, 1200 / box[2], 0.5, 0.5);
    box = logic.centred(box, b.x + b.width / 2, b.y + b.height / 2);
    move();
  }
  function choose(number) {
    chosen = number;
    details.hidden = number < 0;
    if (number >= 0) describe(number);
    mark(false);
    remember();
  }
  // Choose a node and go to the picture that it is in.
  function go(number) {
    choose(number);
    if (nodes[number][PANEL]) show(nodes[number][PANEL]);
    requestAnimationFrame(() => mark(true));
    drawer(false);
  }

  // ---- details ---------------------------------------------------------------------------------
  function section(title, items) {
    if (!items.length) return;
    details.append(made('h3', title));
    const list = document.createElement('ul');
    for (const item of items.slice(0, 200)) {
      const li = document.createElement('li');
      li.append(...item);
      list.append(li);
    }
    if (items.length > 200) list.append(made('li', `${items.length - 200} more`));
    details.append(list);
  }
  const link = (number, output) =>
    made('a', nodes[number][NAME] + (output > 0 ? ':' + output : ''), () => go(number));
  const shape = (number, output) => {
    const text = nodes[number][OUTPUTS][output];
    return text ? ' ' + text : '';
  };
  function describe(number) {
    const node = nodes[number];
    details.textContent = '';
    const close = made('button', '\u00d7', () => choose(-1));
    close.className = 'close';
    close.setAttribute('aria-label', 'close details');
    details.append(close, made('h2', node[NAME]));
    const rows = [['op', node[OP]], ['in', trees[node[TREE]]], ['device', node[DEVICE]]];
    const table = document.createElement('table');
    for (const [key, value] of [...rows, ...node[ATTRS]]) {
      if (value === '') continue;
      const tr = table.insertRow();
      tr.insertCell().textContent = key;
      tr.insertCell().textContent = value;
    }
    section('opens', node[CALLS].map(id => [made('a', panels[id].name, () => open(id))]));
    details.append(table);
    const inputs = node[INPUTS].map(([source, output]) =>
      [link(source, output), output < 0 ? ' (order)' : shape(source, output)]);
    section('inputs', inputs);
    section('outputs', node[OUTPUTS].map((text, k) => [`:${k} ${text}`]));
    section('read by', users[number].map(([user, output]) =>
      [link(user, 0), output < 0 ? ' (order)' : output > 0 ? ` (output ${output})` : '']));
  }

  // ---- search ----------------------------------------------------------------------------------
  function find() {
    const {numbers, total} = logic.find(nodes, search.value, 100);
    listed = numbers;
    marked = 0;
    results.textContent = '';
    numbers.forEach((number, k) => {
      const li = made('li', nodes[number][NAME] + ' ');
      const small = made('small', nodes[number][OP] + (nodes[number][TREE] ? ' in ' + trees[nodes[number][TREE]] : ''));
      li.append(small);
      li.classList.toggle('at', k === 0);
      li.onclick = () => take(number);
      results.append(li);
    });
    const rest = total - numbers.length;
    const text = search.value.trim() && !total ? 'nothing has that in its name or op' : rest ? `${rest} more: write more of it` : '';
    if (text) {
      const li = made('li', text);
      li.className = 'more';
      results.append(li);
    }
  }
  function take(number) {
    results.textContent = '';
    search.blur();
    go(number);
  }
  search.addEventListener('input', find);
  search.addEventListener('focus', find);
  search.addEventListener('keydown', e => {
    const step = {ArrowDown: 1, ArrowUp: -1}[e.key];
    if (step && listed.length) {
      e.preventDefault();
      marked = (marked + step + listed.length) % listed.length;
      [...results.children].forEach((li, k) => li.classList.toggle('at', k === marked));
      results.children[marked].scrollIntoView({block: 'nearest'});
    } else if (e.key === 'Enter' && listed.length) take(listed[marked]);
    else if (e.key === 'Escape') { results.textContent = ''; search.blur(); }
    e.stopPropagation();
  });
  addEventListener('click', e => { if (!e.target.closest('#finder')) results.textContent = ''; });

  // ---- outline, zoom, keys ---------------------------------------------------------------------
  function drawer(isOpen) {
    outline.classList.toggle('open', isOpen);
    menu.setAttribute('aria-expanded', isOpen);
  }
  menu.onclick = () => drawer(!outline.classList.contains('open'));
  outline.addEventListener('click', e => {
    const a = e.target.closest('[data-open]');
    if (a) { e.preventDefault(); open(a.dataset.open); }
  });
  function zoom(factor, fx = 0.5, fy = 0.5) {
    box = logic.zoomed(box, factor, fx, fy);
    move();
  }
  at('in').onclick = () => zoom(1 / 1.3);
  at('out').onclick = () => zoom(1.3);
  at('fit').onclick = fit;
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target === search) return;
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const step = steps[e.key];
    if (step) { box = [box[0] + step[0] * box[2] / 8, box[1] + step[1] * box[3] / 8, box[2], box[3]]; move(); }
    else if (e.key === '+' || e.key === '=') zoom(1 / 1.3);
    else if (e.key === '-') zoom(1.3);
    else if (e.key === '0') fit();
    else if (e.key === '/') search.focus();
    else if (e.key === 'Escape') choose(-1);
    else if (e.key === 'u' && panels[shown].up) open(panels[shown].up);
    else if (e.key === 'Enter' && view.contains(e.target)) press(e.target);
    else return;
    e.preventDefault();
  });

  // ---- the picture -----------------------------------------------------------------------------
  function press(target) {
    const found = target.closest('[data-n],[data-open]');
    if (!found) choose(-1);
    else if (found.dataset.n) choose(Number(found.dataset.n));
    else open(found.dataset.open);
  }
  view.addEventListener('wheel', e => {
    e.preventDefault();
    const r = view.getBoundingClientRect();
    zoom(e.deltaY > 0 ? 1.15 : 1 / 1.15, (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height);
  }, {passive: false});
  const touches = new Map();
  let moved = false, from = null;
  const spread = () => {
    const [a, b] = [...touches.values()];
    return {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, d: Math.hypot(a.x - b.x, a.y - b.y) || 1};
  };
  const begin = () => {
    from = touches.size === 2 ? spread() : touches.size ? {...[...touches.values()][0]} : null;
  };
  const scale = () => { const [w, h] = size(); return Math.max(box[2] / w, box[3] / h); };
  view.addEventListener('pointerdown', e => {
    if (e.button) return;
    if (!touches.size) moved = false;
    touches.set(e.pointerId, {x: e.clientX, y: e.clientY});
    begin();
  });
  addEventListener('pointermove', e => {
    if (!touches.has(e.pointerId)) return;
    touches.set(e.pointerId, {x: e.clientX, y: e.clientY});
    const now = touches.size === 2 ? spread() : touches.get(e.pointerId);
    if (!moved && touches.size < 2 && Math.abs(now.x - from.x) + Math.abs(now.y - from.y) <= 4) return;
    moved = true;
    if (touches.size === 2) {
      const r = view.getBoundingClientRect();
      box = logic.zoomed(box, from.d / now.d, (now.x - r.left) / r.width, (now.y - r.top) / r.height);
    }
    const s = scale();
    box = [box[0] - (now.x - from.x) * s, box[1] - (now.y - from.y) * s, box[2], box[3]];
    from = {...now};
    move();
  });
  const lift = e => { touches.delete(e.pointerId); begin(); };
  addEventListener('pointerup', lift);
  addEventListener('pointercancel', lift);
  view.addEventListener('click', e => { if (!moved) press(e.target); });

  const first = logic.place(location.hash, panels, nodes);
  if (first.node >= 0) choose(first.node);
  show(first.panel);
  requestAnimationFrame(() => mark(true));
  addEventListener('hashchange', () => {
    const next = logic.place(location.hash, panels, nodes);
    choose(next.node);
    show(next.panel);
  });
}

if (typeof module === 'undefined') start(JSON.parse(document.getElementById('data').textContent));
else module.exports = logic;
