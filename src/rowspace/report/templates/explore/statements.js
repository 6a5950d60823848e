// One SELECT, of the part of SQL that says what the panel can ask; everything else is refused with what to write instead.
const AGGREGATES = {
  count: 'records', sum: 'sum', avg: 'mean', var_pop: 'variance', stddev_pop: 'standard deviation', variance: 'sample variance',
  var_samp: 'sample variance', stddev: 'sample standard deviation', stddev_samp: 'sample standard deviation',
};
const ASKED_ALIKE = 'this page reads SELECT keys, COUNT(*) FROM people WHERE ... GROUP BY keys, with one COUNT, SUM or AVG; '
  + 'rowspace ask and release.ask read more SQL';
const CLAUSES = ['from', 'where', 'group', 'order', 'having', 'limit', 'join'];

const isStatement = text => /^\s*select\b(?!\s*[=<>!])/i.test(text);

// As tokens of a condition, but texts in double quotes are names, names without quotes are of any case, and dates may
// have their type before them.
function sqlTokens(domain, text) {
  const names = [...domain.names.keys(), ...domain.measures.keys()];
  const found = tokenized(text, domain.names, true).map(token => {
    if (token.kind !== 'name' || token.quoted || names.includes(token.text)) return token;
    const alike = names.filter(name => name.toLowerCase() === token.text.toLowerCase());
    return { ...token, written: token.text, text: alike.length === 1 ? alike[0] : token.text };
  });
  return found.filter((token, at) => {
    const next = found[at + 1];
    return !(token.kind === 'name' && !token.quoted && ['date', 'timestamp'].includes(token.text.toLowerCase())
      && next.kind === 'value' && next.value.type === 'str');
  });
}

class StatementReader {
  constructor(domain, text) {
    this.domain = domain;
    this.text = text;
    this.tokens = sqlTokens(domain, text);
    this.at = 1;
  }

  get next() { return this.tokens[this.at]; }

  fail(message = ASKED_ALIKE) { throw new ConditionError(message, this.next.position); }

  is(word) { return this.next.kind === 'name' && !this.next.quoted && (this.next.written || this.next.text).toLowerCase() === word; }

  take(word) { if (!this.is(word)) return false; this.at += 1; return true; }

  symbol(text) { if (this.next.kind !== 'symbol' || this.next.text !== text) return false; this.at += 1; return true; }

  name() {
    if (this.next.kind !== 'name') this.fail();
    this.at += 1;
    return this.tokens[this.at - 1];
  }

  listed(read) {
    const found = [read()];
    while (this.symbol(',')) found.push(read());
    return found;
  }

  whole() {
    const items = this.listed(() => this.item());
    if (!this.take('from')) this.fail();
    this.name();
    if (this.next.kind === 'name' && !CLAUSES.some(word => this.is(word))) { this.take('as'); this.name(); }
    const [start, where] = [this.next.position, this.take('where') ? this.condition() : null];
    const words = where ? this.text.slice(start, this.next.position).replace(/^\s*where\s+/i, '').trim() : '';
    const by = this.take('group') ? this.grouped(items) : [];
    this.symbol(';');
    if (this.next.kind !== 'end') this.fail();
    const counts = items.filter(item => item.of);
    if (!counts.length) this.fail('this SELECT counts nothing, and records are never shown; write SELECT COUNT(*)');
    if (counts.length > 1) this.fail('one COUNT, SUM or AVG at a time is read here; rowspace ask and release.ask read several');
    const alone = items.find(item => item.key && !by.includes(item.key));
    if (alone) throw new ConditionError('a selected column that is no count must be in GROUP BY; add it there', alone.position);
    const [{ of, present }] = counts;
    const parts = [where, present && { is: 'missing', name: present.text, negated: true, position: present.position }].filter(Boolean);
    return { by, of, words, where: parts.length ? { is: 'and', parts: parts.flatMap(conjuncts) } : null };
  }

  // A key, or what is counted or added up; with or without another name.
  item() {
    const start = this.name();
    let found = { key: start.text, position: start.position };
    if (!start.quoted && this.symbol('(')) found = this.aggregate((start.written || start.text).toLowerCase());
    if (this.take('as')) found.alias = this.name().text;
    return found;
  }

  aggregate(word) {
    if (!Object.hasOwn(AGGREGATES, word)) { this.at -= 2; this.fail(); }
    const all = word === 'count' && this.symbol('*');
    const own = all ? null : this.name();
    if (!this.symbol(')')) this.fail();
    if (this.is('filter') || this.is('over')) this.fail();
    if (all) return { of: COUNTS };
    const measure = this.domain.measures.get(own.text);
    if (measure) return { of: figureOf(this.domain, AGGREGATES[word] + ' of ' + own.text) };
    if (word === 'count' && this.domain.find(own.text, own.position).attribute.keeps) return { of: COUNTS, present: own };
    throw new ConditionError(word === 'count' ? 'COUNT of a column skips its NULLs, which the domain does not tell apart; write COUNT(*)'
      : quoted(own.text) + ' is no measure of this release, so it is not added up', own.position);
  }

  condition() {
    let [end, depth] = [this.at, 0];
    for (; this.tokens[end].kind !== 'end'; end += 1) {
      const token = this.tokens[end];
      if (token.kind === 'symbol') depth += Number(token.text === '(') - Number(token.text === ')');
      const word = token.kind === 'name' && !token.quoted ? (token.written || token.text).toLowerCase() : token.text;
      if (depth === 0 && ((token.kind === 'name' && !token.quoted && CLAUSES.includes(word)) || word === ';')) break;
    }
    const own = Reader.of([...this.tokens.slice(this.at, end), { kind: 'end', text: '', position: this.tokens[end].position }]);
    this.at = end;
    return own.whole();
  }

  grouped(items) {
    if (!this.take('by')) this.fail();
    const keys = this.listed(() => {
      const { kind, value, position } = this.next;
      if (kind !== 'value' || value.type !== 'int') return this.key(this.name(), items);
      this.at += 1;
      return items[value.value - 1]?.key || this.fail('GROUP BY ' + value.value + ' names a column that is no group');
    });
    return keys.filter((name, at) => keys.indexOf(name) === at);
  }

  // Columns come before the other names that items were given.
  key(token, items) {
    if (this.symbol('(')) { this.at -= 1; this.fail(); }
    const named = !this.domain.names.has(token.text) && items.find(item => item.alias === token.text && item.key);
    const found = named ? named.key : token.text;
    this.domain.find(found, token.position);
    return found;
  }
}

const readStatement = (domain, text) => new StatementReader(domain, text).whole();
