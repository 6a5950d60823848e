// Charts of answers, of the same parts and classes as templates/charts.html has. Texts only ever become text.
const SVG = 'http://www.w3.org/2000/svg';
const MOST_BARS = 30;
const FEW_CELLS = 16;
const MOST_WRITTEN = 2500;
const SHADES = 100;

function element(tag, attributes = {}, ...children) {
  const drawn = ['svg', 'rect', 'line', 'path', 'g', 'title'].includes(tag);
  const found = drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

// Noisy counts: decimals only as far as the smallest standard error has two digits (rowspace.report.numbers).
function writer(errors) {
  const smallest = errors.filter(error => error > 0 && Number.isFinite(error)).reduce((a, b) => Math.min(a, b), Infinity);
  const digits = 1 - Math.floor(Math.log10(Number.isFinite(smallest) ? smallest : 1));
  const decimals = Math.min(4, Math.max(0, digits));
  const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return value => {
    if (!Number.isFinite(value)) return '–';
    if (Math.abs(value) >= 1e12) return value.toPrecision(3);
    const text = format.format(value);
    return /[1-9]/.test(text) ? text : text.replace('-', '');
  };
}

// Each figure of a row as text, written when it is asked for.
function figuresOf(rows) {
  const write = writer(rows.map(row => row.error));
  const of = pick => at => write(pick(rows[at]));
  const half = of(row => (row.high - row.low) / 2);
  return { answer: of(row => row.answer), error: of(row => row.error), low: of(row => row.low), high: of(row => row.high), half };
}

// From zero or below to the largest end.
function scaleOf(rows) {
  const ends = rows.flatMap(row => [row.low, row.high]).filter(Number.isFinite);
  const [low, high] = [ends.reduce((a, b) => Math.min(a, b), 0), ends.reduce((a, b) => Math.max(a, b), 0)];
  const span = high - low || 1;
  return { low, high: low + span, share: value => (value - low) / span };
}

function niceTicks({ low, high }, parts = 5) {
  const rough = (high - low) / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => power * factor >= rough * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  return range(Math.floor(high / step + 1e-9) - first + 1).map(at => (first + at) * step);
}

const tickText = value => {
  const unit = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M']].find(([size]) => Math.abs(value) >= size);
  return (unit ? value / unit[0] : value).toLocaleString('en-US', { maximumSignificantDigits: 6 }) + (unit ? unit[1] : '');
};

const isAnswered = row => Number.isFinite(row.answer);
const coordinate = value => value.toFixed(1);

function bars(rows, labels, figures, description) {
  const scale = scaleOf(rows);
  const across = value => coordinate(1000 * scale.share(value));
  const drawn = element('div', { class: 'rows', role: 'img', 'aria-label': description });
  rows.forEach((row, at) => {
    const [left, right] = [scale.share(0), scale.share(row.answer)].sort((a, b) => a - b);
    drawn.append(
      element('span', { class: 'row-label' }, labels[at]),
      element('svg', { viewBox: '0 0 1000 100', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
        ...(isAnswered(row) ? [element('rect', { x: coordinate(1000 * left), y: 24, width: coordinate(1000 * (right - left)), height: 52, class: 'bar' })] : []),
        element('line', { x1: across(0), x2: across(0), y1: 0, y2: 100, class: 'zero' }),
        ...(isAnswered(row) ? [element('line', { x1: across(row.low), x2: across(row.high), y1: 50, y2: 50, class: 'interval strong' })] : [])),
      element('span', { class: 'row-figure' }, isAnswered(row) ? figures.answer(at) + ' ± ' + figures.half(at) : 'no answer'));
  });
  return drawn;
}

function columns(axis, rows, labels, figures, description) {
  const scale = scaleOf(rows);
  const up = value => coordinate(1000 * (1 - scale.share(value)));
  const width = 1000 / rows.length;
  const gap = rows.length <= 150 ? 0.16 * width : 0;
  const area = element('svg', { class: 'area', viewBox: '0 0 1000 1000', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' });
  const ticks = niceTicks(scale);
  for (const tick of ticks) area.append(element('line', { x1: 0, x2: 1000, y1: up(tick), y2: up(tick), class: 'grid' }));
  rows.forEach((row, at) => {
    if (!isAnswered(row)) return;
    const [top, bottom] = [Math.max(row.answer, 0), Math.min(row.answer, 0)].map(value => 1000 * (1 - scale.share(value)));
    const middle = coordinate((at + 0.5) * width);
    area.append(element('g', {},
      element('title', {}, sentence(labels[at], figures, at)),
      element('rect', { x: coordinate(at * width + gap / 2), y: coordinate(top), width: coordinate(width - gap), height: coordinate(Math.max(0, bottom - top)), class: 'bar' }),
      element('line', { x1: middle, x2: middle, y1: up(row.low), y2: up(row.high), class: 'interval' }),
      element('rect', { x: coordinate(at * width), y: 0, width: coordinate(width), height: 1000, class: 'target' })));
  });
  area.append(element('line', { x1: 0, x2: 1000, y1: up(0), y2: up(0), class: 'zero' }));
  const texts = ticks.map(tickText);
  const left = element('div', { class: 'up' }, ...ticks.map((tick, at) => {
    const label = element('span', {}, texts[at]);
    label.style.bottom = (100 * scale.share(tick)).toFixed(2) + '%';
    return label;
  }), element('b', { class: 'room', 'aria-hidden': 'true' }, ...texts.map(text => element('i', {}, text))));
  const every = [1, 2, 5, 10, 20, 25, 50, 100].find(step => rows.length / step <= 6) || Math.ceil(rows.length / 6);
  const shown = range(rows.length).filter(at => at % every === 0);
  const dense = shown.reduce((sum, at) => sum + labels[at].length + 2, 0) > 30;
  const below = element('div', { class: 'across' + (dense ? ' dense' : '') }, ...shown.map(at => {
    const label = element('span', {}, shortened(labels[at]));
    label.style.left = (100 * (at + 0.5)) / rows.length + '%';
    return label;
  }));
  return element('div', { class: 'plot', role: 'img', 'aria-label': description }, left, area, below, element('div', { class: 'axis-title' }, axis.name));
}

const shortened = label => (label.length <= 16 ? label : label.slice(0, 10) + '…' + label.slice(-5));
const sentence = (label, figures, at) => label + ': ' + figures.answer(at) + ' (' + figures.low(at) + ' to ' + figures.high(at) + ')';

function scrolled(label, content) {
  return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, content);
}

// A table of two attributes: figures where they fit, else a map of colours.
function crossed(answer, figures, description) {
  const [down, along] = answer.axes;
  const present = [0, 1].map(at => [...new Set(answer.rows.map(row => row.codes[at]))].sort((a, b) => a - b));
  const labels = answer.axes.map((axis, at) => present[at].map(code => axis.labels[code] ?? axis.missing));
  const largest = answer.rows.reduce((most, row) => (row.answer > most ? row.answer : most), 0);
  const places = new Map(answer.rows.map((row, at) => [row.codes.join(), at]));
  const shade = at => (largest > 0 && answer.rows[at].answer > 0 ? answer.rows[at].answer / largest : 0);
  if (present[0].length * present[1].length > MOST_WRITTEN) return heatMap(answer, present, labels, places, shade, description);
  const head = element('tr', {}, element('th', { scope: 'col' }, down.name + ' \\ ' + along.name), ...labels[1].map(label => element('th', { scope: 'col' }, label)));
  const body = present[0].map((code, row) => element('tr', {}, element('th', { scope: 'row' }, labels[0][row]), ...present[1].map(other => {
    const at = places.get(code + ',' + other);
    if (at === undefined || !isAnswered(answer.rows[at])) return element('td', {}, '–');
    const cell = element('td', {}, figures.answer(at), element('small', {}, ' ± ' + figures.half(at)));
    cell.style.setProperty('--shade', (100 * shade(at)).toFixed(0) + '%');
    return cell;
  })));
  return scrolled(description, element('table', { class: 'heat' }, element('caption', { class: 'hidden' }, description), element('thead', {}, head), element('tbody', {}, ...body)));
}

const spanned = (name, labels, from, to) => name + ' from ' + labels[0] + ' (' + from + ') to ' + labels[labels.length - 1] + ' (' + to + ')';

function heatMap(answer, present, labels, places, shade, description) {
  const size = present.map(codes => codes.length);
  const area = element('svg', { class: 'area map', viewBox: '0 0 ' + size[1] + ' ' + size[0], preserveAspectRatio: 'none', 'shape-rendering': 'crispEdges', 'aria-hidden': 'true', focusable: 'false' });
  const shades = new Map(); // cells of one shade are one path
  present[0].forEach((code, y) => present[1].forEach((other, x) => {
    const at = places.get(code + ',' + other);
    const step = at === undefined ? 0 : Math.round(SHADES * shade(at));
    if (step) shades.set(step, (shades.get(step) || '') + 'M' + x + ' ' + y + 'h1v1h-1z');
  }));
  for (const [step, d] of shades) area.append(element('path', { d, 'fill-opacity': (step / SHADES).toFixed(3) }));
  return element('div', { class: 'plot', role: 'img', 'aria-label': description }, element('div', { class: 'up' }), area,
    element('div', { class: 'axis-title' }, spanned(answer.axes[1].name, labels[1], 'left', 'right') + ', ' + spanned(answer.axes[0].name, labels[0], 'top', 'bottom')
      + '. The stronger the colour, the more; the CSV has the figures.'));
}

// Every answer with its interval, one row each.
function listed(answer, figures, level, caption) {
  const percent = Number((100 * level).toPrecision(10));
  const head = [...answer.axes.map(axis => axis.name), 'answer', percent + ' % interval', 'std. error'];
  const rows = answer.rows.map((row, at) => element('tr', {}, ...row.labels.map((label, place) => element('th', place ? {} : { scope: 'row' }, label)),
    element('td', {}, figures.answer(at)), element('td', {}, figures.low(at) + ' to ' + figures.high(at)), element('td', {}, figures.error(at))));
  return scrolled(caption, element('table', {}, element('caption', { class: 'hidden' }, caption),
    element('thead', {}, element('tr', {}, ...head.map(text => element('th', { scope: 'col' }, text)))), element('tbody', {}, ...rows)));
}

// What is drawn for an answer of one or two attributes.
function drawnAnswer(answer, description) {
  const figures = figuresOf(answer.rows);
  if (answer.axes.length === 2) return [crossed(answer, figures, description)];
  const labels = answer.rows.map(row => row.labels[0]);
  if (answer.axes[0].ordered && answer.rows.length > FEW_CELLS) return [columns(answer.axes[0], answer.rows, labels, figures, description)];
  const shown = answer.rows.slice(0, MOST_BARS);
  const drawn = [bars(shown, labels, figures, description)];
  if (shown.length < answer.rows.length) drawn.push(element('p', { class: 'note' }, 'The first ' + shown.length + ' of ' + answer.rows.length + ' are drawn.'));
  return drawn;
}
