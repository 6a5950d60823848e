// Figures at every position of the slider came with the plan: moving it asks for nothing.
const LEVEL_WORDS = 'at 95 %';

// A column of figures with one number of decimals: the smallest shows three digits. As the report writes them.
function written(values) {
  const sizes = values.filter(value => value !== null && Number.isFinite(value) && value !== 0).map(Math.abs);
  const smallest = sizes.length ? Math.min(...sizes) : 1;
  const decimals = Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(smallest))));
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return values.map(value => {
    if (value === null) return '–';
    return Math.abs(value) >= 1e12 ? value.toPrecision(3) : value.toLocaleString('en-US', options);
  });
}

const point = () => state.figures.points[state.at];
const plain = value => String(Number(value.toPrecision(6)));

// The widths that error bars may have, over all positions: their common scale, by logarithm.
function scale() {
  const all = state.figures.points.flatMap(one => one.widths || []).filter(width => width > 0);
  return all.length ? [Math.log(Math.min(...all) / 1.5), Math.log(Math.max(...all) * 1.5)] : [0, 1];
}

const STEPS = 1000;
const placeOf = width => {
  const [low, high] = state.scale;
  return width > 0 ? Math.max(0, Math.min(STEPS, Math.round(STEPS * (Math.log(width) - low) / (high - low)))) : 0;
};
const widthAt = place => Math.exp(state.scale[0] + (state.scale[1] - state.scale[0]) * place / STEPS);

// The half-widths that are shown: of the plan for the targets where that is looked at, else of the slider's.
const widths = () => (state.solved ? state.figures.groups.map(name => state.solved.reached[name] ?? null) : point().widths);

function showBudget() {
  const own = state.solved || point();
  element('budget-shown').textContent = own.parameters;
  const slider = element('budget');
  slider.value = state.at;
  slider.style.setProperty('--at', `${100 * state.at / (state.figures.points.length - 1)}%`);
  const error = element('rmse').textContent;
  slider.setAttribute('aria-valuetext', own.parameters + (error ? `, standard error of an answer ${error}` : ''));
  element('plain').textContent = own.plain;
  element('meaning').textContent = own.meaning;
  element('odds').closest('.scroll').hidden = !own.beliefs.length;
  element('odds').replaceChildren(...own.beliefs.map(row => {
    const line = made('tr', '');
    line.append(made('th', row[0], { scope: 'row' }), ...row.slice(1).map(cell => made('td', cell)));
    return line;
  }));
}

function showBars(held) {
  const own = point();
  const strategy = state.figures.strategies[own.strategy];
  const shown = widths();
  const marks = written(shown || []);
  const typical = written(strategy.groups.map(row => own.factor * row[1]));
  const worst = written(strategy.groups.map(row => (row[2] === null ? null : own.factor * row[2])));
  state.bars.forEach((bar, number) => {
    const wanted = state.targets.get(bar.name);
    const width = shown ? shown[number] : null;
    bar.figure.textContent = width === null ? '–' : `${own.rough && !state.solved ? 'about ' : ''}±${marks[number]}`;
    bar.detail.textContent = state.solved ? '' : `typical ${typical[number]}, worst ${worst[number]}`;
    bar.input.disabled = width === null;
    if (number !== held && width !== null) bar.input.value = placeOf(width);
    bar.input.style.setProperty('--at', `${bar.input.value / STEPS * 100}%`);
    bar.input.setAttribute('aria-valuetext', `${bar.figure.textContent} ${LEVEL_WORDS}`);
    bar.row.classList.toggle('missed', wanted !== undefined && width !== null && width > wanted * 1.0000001);
    bar.mark.hidden = wanted === undefined;
    if (wanted !== undefined) bar.mark.textContent = `target ±${plain(wanted)}`;
  });
}

function show(held = null) {
  if (!state.figures) return;
  const own = point();
  const strategy = state.figures.strategies[own.strategy];
  element('rmse').textContent = state.solved ? '' : written([own.factor * strategy.rmse])[0];
  element('unit').textContent = state.solved ? 'The plan for the targets'
    : `standard error of an answer, ${state.figures.unit} (root mean square)`;
  const badge = element('certificate');
  badge.textContent = state.solved ? state.solved.certificate : own.certificate;
  badge.className = (state.solved || own).close ? 'badge' : 'strong';
  const effort = `--effort ${state.figures.effort}`;
  const command = state.figures.letter === 'ε' ? `as rowspace plan --epsilon ${own.budget} ${effort} prints`
    : `as rowspace plan ${effort} prints where rho = ${own.budget}`;
  element('origin').textContent = state.solved ? '' : own.exact
    ? `${strategy.name}; ${command}.`
    : `${strategy.name}, planned for ${state.figures.letter} = ${state.figures.own}; a plan for this value may be better.`;
  showBudget();
  showBars(held);
  showSaving();
}

function buildBars() {
  const rows = state.figures.strategies[0].groups;
  state.bars = state.figures.groups.map((name, number) => {
    const row = made('div', '', { className: 'error-bar' });
    const label = made('label', name, { htmlFor: `bar-${number}` });
    const count = rows[number][0].toLocaleString('en-US');
    label.append(made('small', ` ${count} ${rows[number][0] === 1 ? 'answer' : 'answers'}`));
    const input = Object.assign(document.createElement('input'),
      { type: 'range', id: `bar-${number}`, min: 0, max: STEPS, step: 1, className: 'bar-slider' });
    const figure = made('output', '', { className: 'figure' });
    const detail = made('small', '', { className: 'detail' });
    const mark = made('small', '', { className: 'mark', hidden: true });
    row.append(label, input, figure, detail, mark);
    input.addEventListener('input', () => dragged(number));
    input.addEventListener('change', () => dropped(number));
    return { name, row, input, figure, detail, mark };
  });
  element('bars').replaceChildren(...state.bars.map(bar => bar.row));
  const more = state.figures.left_out;
  element('left-out').hidden = !more;
  element('left-out').textContent = more
    ? `${more.toLocaleString('en-US')} more groups are not shown; rowspace plan --json lists all.` : '';
  element('bars-note').hidden = !state.bars.length;
}

// New figures, from the server: the slider stays where it is, unless the study says another budget.
function take(figures, keep) {
  const before = keep && state.figures ? point().budget : state.own;
  const names = JSON.stringify(figures.groups);
  const rebuild = !state.figures || names !== state.names;
  Object.assign(state, { figures, names });
  state.scale = scale();
  const at = figures.points.findIndex(one => one.budget === before);
  state.at = at >= 0 ? at : figures.points.findIndex(one => one.budget === figures.own);
  Object.assign(element('budget'), { max: figures.points.length - 1, disabled: false });
  document.documentElement.classList.add('planned');
  if (rebuild) buildBars();
  show();
}

function slid() {
  state.at = Number(element('budget').value);
  state.solved = null;
  show();
}
