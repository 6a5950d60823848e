// Dragging an error bar says how small it must be. While it moves, the slider shows what the strategies at hand need;
// when it is let go, the server looks for the least budget for all targets together.
let waiting = 0;

const rounded = width => Number(width.toPrecision(3));

// The first position at which the widths are as wanted, or the last one.
function needed(wanted) {
  const numbers = [...wanted].map(([name, width]) => [state.figures.groups.indexOf(name), width]).filter(one => one[0] >= 0);
  const meets = one => numbers.every(([number, width]) => one.widths[number] <= width);
  const at = state.figures.points.findIndex(meets);
  return at >= 0 ? at : state.figures.points.length - 1;
}

function dragged(number) {
  const { name, input, figure, mark } = state.bars[number];
  const width = rounded(widthAt(Number(input.value)));
  state.solved = null;
  state.at = needed(new Map([...state.targets, [name, width]]));
  show(number);
  figure.textContent = `±${plain(width)}`;
  input.setAttribute('aria-valuetext', `target ±${plain(width)} ${LEVEL_WORDS}`);
  mark.hidden = false;
  mark.textContent = `target ±${plain(width)}`;
}

function dropped(number) {
  const { name, input } = state.bars[number];
  aim(name, rounded(widthAt(Number(input.value))));
}

// A target, or none; the search begins when nothing has changed for a moment.
function aim(name, width) {
  if (width) state.targets.set(name, width); else state.targets.delete(name);
  state.solved = null;
  if (state.targets.size) state.at = needed(state.targets);
  listTargets();
  show();
  clearTimeout(waiting);
  waiting = setTimeout(solve, 700);
}

async function solve() {
  element('solved').textContent = '';
  element('solved-more').hidden = true;
  if (await send('/targets', { revision: state.revision, targets: Object.fromEntries(state.targets) })) follow();
}

function listTargets() {
  element('targets-card').hidden = !state.targets.size;
  element('targets').replaceChildren(...[...state.targets].map(([name, width], number) => {
    const row = made('li', '');
    const label = made('label', `${name} ±`, { htmlFor: `target-${number}` });
    const input = Object.assign(document.createElement('input'),
      { type: 'text', id: `target-${number}`, value: plain(width), inputMode: 'decimal', autocomplete: 'off' });
    input.addEventListener('change', () => {
      const value = Number(input.value);
      if (value > 0 && Number.isFinite(value)) aim(name, value);
      else complain('Expected a number above 0 for a target.');
    });
    const drop = made('button', 'Drop', { type: 'button', ariaLabel: `Drop the target of ${name}` });
    drop.addEventListener('click', () => { aim(name, 0); element('budget').focus(); });
    row.append(label, input, made('span', LEVEL_WORDS), drop);
    return row;
  }));
}

const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;

// Whether an answer is about the targets that there are now.
function isFor(texts) {
  return texts.length === state.targets.size && texts.every(text => {
    const at = text.lastIndexOf(': ±');
    const width = Number(text.slice(at + 3).split(' ')[0]);
    return Math.abs(width / state.targets.get(text.slice(0, at)) - 1) < 1e-5;
  });
}

// What the search has found: a budget, or which target cannot be met and why.
function takeSolved(solved) {
  if (!isFor(solved.targets)) return;
  const missed = Boolean(solved.unmet);
  element('solved').className = missed ? 'problem-words' : 'strong';
  element('solved').textContent = missed ? solved.unmet : `${solved.parameters} meets every target.`;
  element('solved-more').hidden = missed;
  say(element('solved').textContent);
  if (missed) return;
  element('use').textContent = `Use ${solved.parameters} in the study`;
  const words = solved.targets.map(target => `--target ${quoted(target)}`).join(' ');
  element('command').textContent = `rowspace plan ${element('toolbar').dataset.file} ${words} --save study.plan`;
  if (!state.figures) return;
  state.solved = solved;
  const near = state.figures.points.findIndex(one => one.budget >= solved.budget);
  state.at = near >= 0 ? near : state.figures.points.length - 1;
  show();
}

function forget() {
  state.targets.clear();
  state.solved = null;
  listTargets();
  show();
  send('/targets', { revision: state.revision, targets: {} });
}
