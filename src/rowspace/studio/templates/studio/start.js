// What is under way, asked for while there is anything; and what all controls do.
let following = false;
let calls = 0;

async function news() {
  const seen = new URLSearchParams(state.versions);
  const found = await (await fetch(`/news?${seen}`)).json();
  if (state.changing || found.revision < state.revision) return true;  // it is about the study before the change
  if (found.revision > state.revision) {
    complain('The study was changed in another window; reload the page.');
    return false;
  }
  Object.assign(state, { saved: found.saved, own: found.own });
  const fresh = name => {
    const is = found[name].version !== state.versions[name];
    state.versions[name] = found[name].version;
    return is ? found[name] : {};
  };
  const plan = fresh('plan');
  if (plan.figures && plan.figures !== null) takePlan(plan);
  if (plan.problem) complain(plan.problem);
  const targets = fresh('targets');
  if (targets.solved) takeSolved(targets.solved);
  if (targets.problem) complain(targets.problem);
  const look = fresh('look');
  if (look.check) takeCheck(look.check);
  if (look.problem) complain(look.problem);
  const release = fresh('release');
  if (release.released) takeReleased(release.released);
  if (release.problem) complain(release.problem);
  const working = [found.release, found.targets, found.look, found.plan].find(job => job.doing);
  showDoing(working, plan);
  showSaving();
  return Boolean(working);
}

function takePlan(plan) {
  const first = state.planned !== state.revision;
  state.planned = state.revision;
  take(plan.figures, !first);
  if (first) say(`Planned: ${element('budget-shown').textContent}, standard error of an answer ${element('rmse').textContent}.`);
}

function showDoing(job, plan) {
  element('progress').hidden = !job;
  element('cancel').hidden = !job;
  if (job) element('doing-words').textContent = `${job.doing}: ${Math.floor(job.seconds)} s`;
  else {
    if (plan.stopped) state.note = 'Stopped; what was found stays';
    element('doing-words').textContent = state.note || 'Planned';
  }
}

async function follow() {
  calls += 1;
  if (following) return;
  following = true;
  try {
    // What was begun after a question was sent is not in its answer: ask once more.
    for (let seen = 0, more = true; more || seen !== calls;) {
      seen = calls;
      more = await news();
      if (more) await new Promise(resolve => { setTimeout(resolve, 300); });
    }
  } catch {
    complain('The studio does not answer; is rowspace studio still running?');
  }
  following = false;
}

function takeCheck(found) {
  element('found').hidden = false;
  element('verdict').textContent = found.verdict;
  element('found-rows').replaceChildren(...found.rows.map(row => {
    const line = made('tr', '');
    line.append(made('th', row[0], { scope: 'row' }), ...row.slice(1).map(cell => made('td', cell)));
    return line;
  }));
  element('found-lines').replaceChildren(...found.lines.map(words => made('li', words)));
  say(found.verdict);
}

function listen() {
  element('budget').addEventListener('input', slid);
  element('budget').addEventListener('change', () => { if (!point().exact && !following) change({ do: 'budget' }); });
  element('exact-form').addEventListener('submit', event => {
    event.preventDefault();
    const value = number('exact', 'the budget');
    if (value !== null) change({ do: 'budget', budget: value });
  });
  element('save').addEventListener('click', save);
  element('undo').addEventListener('click', () => change({ do: 'undo' }));
  element('reload').addEventListener('click', async () => {
    if (await change({ do: 'reload' })) element('reload').hidden = true;
  });
  element('cancel').addEventListener('click', async () => { await send('/cancel', {}); follow(); });
  element('use').addEventListener('click', () => change({ do: 'budget', budget: state.solved.budget }));
  element('forget').addEventListener('click', forget);
  element('add-form').addEventListener('submit', add);
  element('family').addEventListener('change', fit);
  if (element('look')) element('look').addEventListener('click', async () => { if (await send('/check', {})) follow(); });
  document.addEventListener('click', event => { if (event.target.matches('.remove')) remove(event.target); });
  document.addEventListener('change', event => { if (event.target.matches('.weight')) weigh(event.target); });
  addEventListener('beforeunload', event => { if (!element('save').disabled) event.preventDefault(); });
}

document.documentElement.classList.add('scripted');
listenToReleases();
state.revision = Number(element('toolbar').dataset.revision);
fit();
listen();
follow();
