// From tokens to a tree, as rowspace.workload.predicate.parser reads them. Nothing is evaluated.
// A cursor over tokens; each method reads one rule of the grammar.
class Reader {
  constructor(text, names) {
    if (text.length > LONGEST) throw new ConditionError('a condition has at most ' + LONGEST + ' characters', LONGEST);
    this.begin(tokenized(text, names));
  }

  // A condition that was cut into tokens before.
  static of(tokens) { return Object.create(Reader.prototype).begin(tokens); }

  begin(tokens) { return Object.assign(this, { tokens, at: 0, depth: 0 }); }

  whole() {
    if (this.peek().kind === 'end') this.fail('the condition is empty; write for example: age >= 65');
    const found = this.condition();
    if (this.peek().kind !== 'end') this.fail("expected 'and', 'or' or the end, got " + described(this.peek()));
    return found;
  }

  condition() { return this.joined('or', () => this.joined('and', () => this.negation())); }

  joined(word, read) {
    const parts = [read()];
    while (this.take('keyword', word)) parts.push(read());
    const flat = parts.flatMap(part => (part.is === word ? part.parts : [part]));
    return flat.length === 1 ? flat[0] : { is: word, parts: flat };
  }

  negation() {
    this.depth += 1;
    if (this.depth > DEEPEST) this.fail('nested deeper than ' + DEEPEST + ' levels; simplify the condition');
    let found;
    if (this.take('keyword', 'not')) found = { is: 'not', inner: this.negation() };
    else if (this.take('symbol', '(')) {
      found = this.condition();
      this.expect(')');
      if (this.take('keyword', 'is')) {
        const negated = this.take('keyword', 'not');
        found = { is: 'is', inner: found, value: this.boolean(), negated };
      }
    } else found = this.test();
    this.depth -= 1;
    return found;
  }

  test() {
    const left = this.operand('the name of an attribute');
    if (left.name !== undefined) {
      const found = this.testOf(left);
      if (found) return found;
    }
    let comparison = this.comparison();
    const middle = this.operand('a number or a text in quotes');
    const first = this.compared(left, comparison, middle);
    if (!this.atComparison()) return first;
    comparison = this.comparison();
    const second = this.compared(middle, comparison, this.operand('a number or a text in quotes'));
    return { is: 'and', parts: [first, second] };
  }

  testOf(subject) {
    if (this.take('keyword', 'is')) return this.state(subject);
    const negated = this.take('keyword', 'not');
    const test = { is: 'test', ...subject };
    if (this.take('keyword', 'between')) {
      const low = this.value();
      if (!this.take('keyword', 'and')) {
        this.fail("expected 'and' and the upper end of between, got " + described(this.peek()));
      }
      Object.assign(test, { comparison: 'between', values: [low, this.value()] });
    } else if (this.take('keyword', 'in')) Object.assign(test, { comparison: 'in', values: this.list() });
    else if (negated) this.fail("expected 'in' or 'between' after 'not', got " + described(this.peek()));
    else if (this.atComparison() || subject.part) return null;
    else Object.assign(test, { comparison: '=', values: [{ type: 'bool', value: true }] });
    return negated ? { is: 'not', inner: test } : test;
  }

  state(subject) {
    const negated = this.take('keyword', 'not');
    const found = this.peek();
    if (!subject.part && found.kind === 'name' && ['missing', 'null'].includes(found.text.toLowerCase())) {
      this.at += 1;
      return { is: 'missing', name: subject.name, negated, position: subject.position };
    }
    const inner = { is: 'test', ...subject, comparison: '=', values: [{ type: 'bool', value: true }] };
    return { is: 'is', inner, value: this.boolean(), negated };
  }

  boolean() {
    const found = this.peek();
    if (found.kind !== 'value' || found.value.type !== 'bool') {
      this.fail("expected missing, null, true or false after 'is', got " + described(found));
    }
    this.at += 1;
    return found.value.value;
  }

  operand(expected) {
    const found = this.peek();
    if (found.kind === 'value' && ['bool', 'str'].includes(found.value.type)) return this.value();
    const operands = [[1, this.term(expected)]];
    for (let sign = this.sign(); sign !== 0; sign = this.sign()) operands.push([sign, this.term('a name or a number')]);
    if (operands.length === 1) return operands[0][1];
    const sum = { terms: [], constant: 0 };
    for (const [sign, operand] of operands) {
      if (operand.name !== undefined) sum.terms.push(added(sign, operand));
      else sum.constant += sign * operand.value;
    }
    return sum;
  }

  sign() {
    const found = this.peek();
    if (found.kind === 'value' && '+-'.includes(found.text[0])) return 1;
    if (found.kind === 'symbol' && '+-'.includes(found.text)) {
      this.at += 1;
      return found.text === '+' ? 1 : -1;
    }
    return 0;
  }

  term(expected) {
    const found = this.peek();
    if (found.kind === 'value' && ['int', 'float'].includes(found.value.type)) { this.at += 1; return found.value; }
    if (found.kind !== 'name') this.fail('expected ' + expected + ', got ' + described(found));
    this.at += 1;
    if (this.peek().kind === 'symbol' && this.peek().text === '(') return this.part(found);
    return { name: found.text, position: found.position, part: null };
  }

  part(found) {
    const part = found.text.toLowerCase();
    if (!PARTS.includes(part)) {
      throw new ConditionError('unknown function ' + quoted(found.text.slice(0, 40)) + '; known: ' + PARTS.join(', '), found.position);
    }
    this.expect('(');
    const name = this.peek();
    if (name.kind !== 'name') this.fail('expected the name of an attribute, got ' + described(name));
    this.at += 1;
    this.expect(')');
    return { name: name.text, position: name.position, part };
  }

  compared(left, [comparison, position], right) {
    if (left.name !== undefined && right.type) return { is: 'test', ...left, comparison, values: [right] };
    if (left.type && right.name !== undefined) {
      return { is: 'test', ...right, comparison: MIRRORED[comparison], values: [left] };
    }
    for (const side of [left, right]) {
      if (side.type === 'bool' || side.type === 'str') {
        throw new ConditionError('a sum or difference of attributes is compared with numbers, not with text', position);
      }
    }
    return related(summed(left), comparison, summed(right), position);
  }

  atComparison() { return this.peek().kind === 'symbol' && this.peek().text in MIRRORED; }

  comparison() {
    const found = this.peek();
    if (!this.atComparison()) this.fail('expected a comparison such as = or >=, got ' + described(found));
    this.at += 1;
    return [found.text, found.position];
  }

  value() {
    const found = this.peek();
    const advice = found.kind === 'name' ? '; for a text write ' + quoted(found.text) : '';
    if (found.kind !== 'value') this.fail('expected a number or a text in quotes, got ' + described(found) + advice);
    this.at += 1;
    return found.value;
  }

  list() {
    this.expect('(');
    const values = [this.value()];
    while (this.take('symbol', ',')) values.push(this.value());
    this.expect(')');
    return values;
  }

  peek() { return this.tokens[this.at]; }

  take(kind, text) {
    const found = this.peek().kind === kind && this.peek().text === text;
    if (found) this.at += 1;
    return found;
  }

  expect(symbol) { if (!this.take('symbol', symbol)) this.fail('expected ' + quoted(symbol) + ', got ' + described(this.peek())); }

  fail(message) { throw new ConditionError(message, this.peek().position); }
}

function added(sign, { name, position, part }) {
  if (part) throw new ConditionError(part + '(' + name + ') is compared with a value only; compare it by itself', position);
  return { sign, name, position };
}

function summed(operand) {
  if (operand.terms) return operand;
  return operand.name !== undefined ? { terms: [added(1, operand)], constant: 0 } : { terms: [], constant: operand.value };
}

// One sum compared with another, all attributes brought to the left.
function related(left, comparison, right, position) {
  const terms = [...left.terms, ...right.terms.map(term => ({ ...term, sign: -term.sign }))];
  if (!terms.length) {
    throw new ConditionError('two numbers are compared, which says nothing about a record; name an attribute', position);
  }
  return { is: 'relation', terms, comparison, constant: right.constant - left.constant, position };
}

// Conditions that must all hold: `not (a or b)` is `not a and not b`.
function conjuncts(node) {
  if (node.is === 'and') return node.parts.flatMap(conjuncts);
  if (node.is === 'not' && node.inner.is === 'or') {
    return node.inner.parts.flatMap(inner => conjuncts({ is: 'not', inner }));
  }
  if (node.is === 'not' && node.inner.is === 'not') return conjuncts(node.inner.inner);
  return [node];
}

function leaves(node) {
  if (node.parts) return node.parts.flatMap(leaves);
  return node.inner ? leaves(node.inner) : [node];
}
