// The Ask panel: what is chosen or typed is asked at once, and kept in the address of the page.
const PAUSE = 500;

class Panel {
  constructor(section) {
    const find = name => section.querySelector('#ask-' + name);
    this.at = Object.fromEntries(['form', 'of', 'by', 'and', 'where', 'problem', 'result', 'number', 'words', 'chart', 'list', 'address', 'copy', 'csv', 'done', 'said']
      .map(name => [name, find(name)]));
    this.release = released(JSON.parse(section.querySelector('#ask-contents').dataset.contents));
    this.title = document.title;
    section.querySelector('.off').hidden = true;
    this.at.form.hidden = false;
    this.at.form.addEventListener('submit', event => event.preventDefault());
    this.choices = ['of', 'by', 'and'].map(name => this.at[name]).filter(Boolean);
    for (const choice of this.choices) choice.addEventListener('change', () => this.ask());
    if (this.at.where) this.at.where.addEventListener('input', () => this.ask());
    this.at.copy.addEventListener('click', () => this.copy());
    this.at.csv.addEventListener('click', () => this.save());
    window.addEventListener('hashchange', () => this.follow());
    if (this.at.where) this.picker = new Picker(section, this.release.domain, text => this.narrow(text));
    // After the page has been drawn: what is published is read first.
    setTimeout(() => { if (!this.follow()) this.begin(); }, 0);
  }

  // The first attribute that was measured by itself.
  begin() {
    for (const name of [...this.release.names.slice(0, 12), '']) {
      this.at.by.value = name;
      if (this.ask({ quiet: true })) return;
    }
  }

  get question() {
    const where = this.at.where ? this.at.where.value.trim() : '';
    if (isStatement(where)) return { by: [], where, of: '' };
    const by = [this.at.by.value, this.at.and.value].filter((name, at, all) => name && all.indexOf(name) === at);
    return { by, where, of: this.at.of ? this.at.of.value : '' };
  }

  // What the address of the page asks; nothing where it names a part of the page.
  follow() {
    if (!window.location.hash.startsWith('#ask?')) return false;
    const wanted = new URLSearchParams(window.location.hash.slice(5));
    const [by = '', and = ''] = wanted.getAll('by');
    const of = wanted.get('of') || '';
    const offered = this.at.of ? [...this.at.of.options].map(option => option.value) : [''];
    const unknown = [...[by, and].filter(name => name && !this.release.names.includes(name)), ...[of].filter(name => !offered.includes(name))];
    if (this.at.of) this.at.of.value = unknown.includes(of) ? '' : of;
    this.at.by.value = unknown.includes(by) ? '' : by;
    this.at.and.value = unknown.includes(and) ? '' : and;
    if (this.at.where) this.at.where.value = wanted.get('where') || '';
    if (unknown.length) this.fail(new ConditionError('this address asks for ' + unknown.map(quoted).join(', ') + ', which this release does not have'));
    else this.ask();
    this.at.form.closest('section').scrollIntoView();
    return true;
  }

  narrow(text) {
    const before = this.at.where.value.trim();
    const several = /\bor\b/i.test(before);
    this.at.where.value = before ? (several ? '(' + before + ')' : before) + ' and ' + text : text;
    this.ask();
  }

  ask({ quiet = false } = {}) {
    const { by, where, of } = this.question;
    for (const choice of this.choices) choice.disabled = isStatement(where);
    let answer;
    try { answer = this.release.ask(by, where, of); } catch (error) {
      if (!(error instanceof ConditionError)) throw error;
      this.fail(error, quiet);
      return false;
    }
    this.answer = answer;
    if (this.at.where) this.at.where.removeAttribute('aria-invalid');
    this.at.problem.hidden = true;
    this.at.result.hidden = false;
    this.show(answer.axes.map(axis => axis.name), answer.words, quiet);
    this.link(by, where, of, quiet);
    return true;
  }

  show(by, where, quiet) {
    const { answer, at } = this;
    const figures = figuresOf(answer.rows);
    const among = where ? ' where ' + where : '';
    const percent = Number((100 * this.release.level).toPrecision(10)) + ' %';
    const { figure, measure } = answer.of;
    const what = measure ? (figure === 'records' ? 'records with a value of ' + measure.name : figure + ' of ' + measure.name) : 'records';
    const counted = !measure || figure === 'records';
    let words;
    if (!Number.isFinite(answer.rows[0].answer) && !by.length) {
      words = 'No answer: the number of records' + among + ' cannot be told from zero.';
      at.number.replaceChildren('no answer');
      at.chart.replaceChildren();
      at.list.replaceChildren();
    } else if (!by.length) {
      at.number.replaceChildren(figures.answer(0), element('small', {}, ' ± ' + figures.half(0)));
      words = (counted ? 'About ' + figures.answer(0) + ' ' + what + among : 'The ' + what + among + ' is about ' + figures.answer(0))
        + '. With ' + percent + ' confidence the true ' + (counted ? 'count' : figure) + ' is between ' + figures.low(0) + ' and ' + figures.high(0) + '.';
      at.chart.replaceChildren(bars(answer.rows, [where || 'all records'], figures, words));
      at.list.replaceChildren();
    } else {
      const top = answer.rows.reduce((best, row, place) => (row.answer > (answer.rows[best]?.answer ?? -Infinity) ? place : best), -1);
      const [count, unknown] = [answer.rows.length, answer.rows.filter(row => !Number.isFinite(row.answer)).length];
      at.number.replaceChildren(what[0].toUpperCase() + what.slice(1) + ' by ' + by.join(' and '));
      words = count.toLocaleString('en-US') + (count === 1 ? ' answer' : ' answers') + (counted ? '' : ': ' + what) + ' by ' + by.join(' and ')
        + among + ', with ' + percent + ' intervals.'
        + (top >= 0 ? ' The largest is ' + sentence(answer.rows[top].labels.join(', '), figures, top) + '.' : '')
        + (unknown ? ' ' + unknown.toLocaleString('en-US') + ' without an answer: the number of records there cannot be told from zero.' : '');
      at.chart.replaceChildren(...(by.length <= 2 ? drawnAnswer(answer, words) : [listed(answer, figures, this.release.level, words)]));
      at.list.replaceChildren(...(by.length === 1 ? [this.folded(figures, words)] : []));
    }
    at.number.className = by.length ? 'ask-title' : 'ask-number';
    at.words.textContent = words;
    if (!quiet) this.say(words);
  }

  folded(figures, words) {
    const open = this.at.list.querySelector('details')?.open || false;
    const found = element('details', {}, element('summary', {}, 'All figures', element('small', {}, this.answer.rows.length + ' answers')),
      listed(this.answer, figures, this.release.level, words));
    found.open = open;
    return found;
  }

  fail(error, quiet = false) {
    const { at } = this;
    this.answer = null;
    at.result.hidden = true;
    at.problem.hidden = false;
    const where = at.where ? at.where.value : '';
    const lines = [element('p', {}, error.message[0].toUpperCase() + error.message.slice(1) + (/[.?]$/.test(error.message) ? '' : '.'))];
    if (error.position !== null && error.position <= where.length && where) {
      const start = Math.max(0, error.position - 30);
      lines.push(element('pre', { 'aria-hidden': 'true' }, where.slice(start, start + 60) + '\n' + ' '.repeat(error.position - start) + '^'));
    }
    at.problem.replaceChildren(...lines);
    if (where) at.where.setAttribute('aria-invalid', 'true');
    if (!quiet) this.say(error.message);
  }

  // Said once, when nothing more is typed.
  say(words) {
    clearTimeout(this.later);
    this.later = setTimeout(() => { if (this.at.said.textContent !== words) this.at.said.textContent = words; }, PAUSE);
  }

  link(by, where, of, quiet) {
    const wanted = new URLSearchParams([...(of ? [['of', of]] : []), ...by.map(name => ['by', name]), ...(where ? [['where', where]] : [])]);
    const address = window.location.href.split('#')[0] + '#ask?' + wanted;
    this.at.address.value = address;
    this.at.done.textContent = '';
    if (!quiet) window.history.replaceState(null, '', address);
  }

  async copy() {
    this.at.address.select();
    try {
      await navigator.clipboard.writeText(this.at.address.value);
      this.at.done.textContent = 'Copied.';
    } catch (error) {
      this.at.done.textContent = 'The link is marked: copy it with your keyboard.';
    }
  }

  save() {
    const { axes, rows } = this.answer;
    const field = text => (/[",\n\r]/.test(text) ? '"' + String(text).replaceAll('"', '""') + '"' : text);
    const head = [...axes.map(axis => axis.name), ...(axes.length ? [] : ['where']), 'answer', 'std_error', 'low', 'high'];
    const lines = rows.map(row => [...row.labels, ...(axes.length ? [] : [this.question.where || 'all records']), row.answer, row.error, row.low, row.high]);
    const text = [head, ...lines].map(line => line.map(value => field(String(value))).join(',')).join('\r\n') + '\r\n';
    const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
    const link = element('a', { href: address, download: 'answers.csv' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    this.at.done.textContent = 'Saved as answers.csv.';
  }
}

// Conditions for people who do not type them.
class Picker {
  constructor(section, domain, add) {
    const find = name => section.querySelector('#pick-' + name);
    this.at = Object.fromEntries(['name', 'values', 'listed', 'from', 'below', 'span', 'missing', 'gone', 'add'].map(name => [name, find(name)]));
    this.domain = domain;
    this.at.name.addEventListener('change', () => this.fill());
    this.at.gone.addEventListener('change', () => this.fill());
    this.at.add.addEventListener('click', () => { const text = this.text(); if (text) add(text); });
    this.fill();
  }

  get chosen() { return this.domain.find(this.at.name.value); }

  fill() {
    const { attribute, level } = this.chosen;
    const { at } = this;
    const ranged = !level && attribute.kind !== 'category';
    at.missing.hidden = !attribute.place || Boolean(level);
    if (at.missing.hidden) at.gone.checked = false;
    at.listed.hidden = ranged || at.gone.checked;
    at.span.hidden = !ranged || at.gone.checked;
    const key = at.name.value;
    if (this.filled === key) return;
    this.filled = key;
    const option = (text, value) => element('option', { value }, text);
    if (ranged) {
      at.from.replaceChildren(...attribute.texts.slice(0, -1).map(option));
      at.below.replaceChildren(...attribute.texts.slice(1).map((text, place) => option(text, place + 1)));
      at.below.value = String(attribute.size);
    } else at.values.replaceChildren(...(level || attribute).labels.map(option));
  }

  text() {
    const { attribute, level } = this.chosen;
    const name = nameText(this.at.name.value);
    if (this.at.gone.checked) return name + ' is missing';
    if (level || attribute.kind === 'category') {
      const values = [...this.at.values.selectedOptions].map(({ value }) => (level || attribute).values[value])
        .map(value => valueText({ type: typeOf(value), value }));
      if (!values.length) return '';
      return values.length === 1 ? name + ' = ' + values[0] : name + ' in (' + values.join(', ') + ')';
    }
    const [from, below] = [Number(this.at.from.value), Number(this.at.below.value)];
    const edge = at => (attribute.kind === 'date' ? quoted(attribute.texts[at]) : String(attribute.edges[at]));
    return [...(from > 0 ? [name + ' >= ' + edge(from)] : []), ...(below < attribute.size ? [name + ' < ' + edge(below)] : [])].join(' and ')
      || name + ' >= ' + edge(0);
  }
}

const asked = new Panel(document.getElementById('ask'));
window.rowspace = Object.freeze({ ask: (by = [], where = '', of = '') => asked.release.ask(by, where, of) });
