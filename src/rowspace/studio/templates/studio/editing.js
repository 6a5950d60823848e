// Changes of the study: each is sent, and the parts that it changes are taken from the page that comes back.
const number = (id, words) => {
  const value = Number(element(id).value);
  if (value > 0 && Number.isFinite(value)) return value;
  complain(`Expected a number above 0 for ${words}.`);
  element(id).focus();
  return null;
};

const budget = () => (state.solved ? state.solved.budget : state.figures ? point().budget : null);

async function change(what) {
  complain('');
  state.changing = true;
  state.note = '';
  const found = await send('/change', { revision: state.revision, budget: budget(), ...what });
  if (found) await refresh();
  state.changing = false;
  if (found) follow();
  return Boolean(found);
}

// The parts of the page that the server writes.
async function refresh() {
  const answer = await fetch('/');
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!page.getElementById('toolbar')) { location.reload(); return; }
  for (const part of ['.questions', '#columns', 'header']) {
    document.querySelector(part).replaceWith(page.querySelector(part));
  }
  Object.assign(element('toolbar').dataset, page.getElementById('toolbar').dataset);
  state.revision = Number(element('toolbar').dataset.revision);
  document.documentElement.classList.remove('planned');
  element('undo').disabled = !element('toolbar').dataset.undo;
  state.targets.clear();
  state.solved = null;
  listTargets();
}

function showSaving() {
  const changed = !state.saved || (state.figures !== null && budget() !== state.own);
  element('save').disabled = !changed;
  element('save').classList.toggle('strong-button', changed);
}

async function save() {
  complain('');
  const found = await send('/save', { revision: state.revision, budget: budget() });
  if (!found) return;
  say(`Saved ${found.file}.`);
  state.note = `Saved ${found.file}`;
  follow();
}

async function add(event) {
  event.preventDefault();
  const weight = number('add-weight', 'the weight');
  if (weight === null) return;
  const chosen = [...element('names').selectedOptions].map(option => option.value);
  const question = {
    family: element('family').value, weight, text: element('text').value, up_to: Number(element('up-to').value),
    names: chosen, measure: element('measure') ? element('measure').value : '',
  };
  const families = element('names').closest('[data-for]').dataset.for.split(' ');
  if (!families.includes(question.family)) question.names = [];
  if (!['predicates', 'sql'].includes(question.family)) question.text = '';
  if (await change({ do: 'add', question })) {
    element('text').value = '';
    element('family').focus();
    say('Added; planning anew.');
  }
}

// Of the form only what its family needs.
function fit() {
  const family = element('family').value;
  for (const part of element('add-form').querySelectorAll('[data-for]')) {
    part.hidden = !part.dataset.for.split(' ').includes(family);
  }
  const one = ['ranges', 'prefixes'].includes(family);
  element('names').multiple = !one;
  element('names-label').textContent = one ? 'Attribute'
    : ['sum', 'mean'].includes(family) ? 'For each value of (none: for all)' : 'Attributes (several: Ctrl or Shift)';
}

async function weigh(input) {
  const weight = number(input.id, 'the weight');
  if (weight !== null && await change({ do: 'weight', card: Number(input.dataset.card), weight })) element(input.id).focus();
}

async function remove(button) {
  if (await change({ do: 'remove', card: Number(button.dataset.card) })) {
    say('Removed; planning anew. Undo takes it back.');
    element('undo').focus();
  }
}
