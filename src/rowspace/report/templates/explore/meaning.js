// Where a condition holds: cells of the attributes it speaks of. A missing value leaves a comparison open, as in SQL.
const OPEN = 0;
const TRUE = 1;
const FALSE = 2;
const OPPOSITE = [OPEN, FALSE, TRUE];
const MOST_JOINT = 2 ** 22;
const KIND_NAMES = { str: 'text', int: 'integers', bool: 'booleans' };

const COMPARE = {
  '=': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b,
  '>': (a, b) => a > b, '>=': (a, b) => a >= b,
};

const known = labels => labels.slice(0, 6).join(', ') + (labels.length > 6 ? ' and ' + (labels.length - 6) + ' more' : '');

class Domain {
  constructor(views) {
    this.attributes = views.map((view, axis) => ({
      ...view,
      axis,
      size: view.labels.length,
      full: view.labels.length + Number(view.keeps),
      counted: view.labels.length + Number(view.place),
      edges: view.edges && unpacked(view.edges),
      levels: view.levels.map(level => ({ ...level, groups: unpacked(level.groups) })),
    }));
    this.names = new Map();
    this.measures = new Map();
    for (const attribute of this.attributes) {
      if (attribute.kind === 'measure') { this.measures.set(attribute.name, attribute); continue; }
      this.names.set(attribute.name, { attribute, level: null });
      for (const level of attribute.levels) this.names.set(level.name, { attribute, level });
    }
  }

  find(name, position = null) {
    const found = this.names.get(name);
    if (found) return found;
    if (this.measures.has(name)) {
      throw new ConditionError(quoted(name) + ' is added up, not counted by: ask for its sum or mean', position);
    }
    const lower = name.toLowerCase();
    const begins = (one, other) => one.startsWith(other) || other.startsWith(one);
    const close = [...this.names.keys()].find(other => begins(other.toLowerCase(), lower));
    const advice = close ? 'did you mean ' + quoted(close) + '?' : 'known: ' + known([...this.names.keys()].map(quoted));
    throw new ConditionError('unknown attribute ' + quoted(name.slice(0, 200)) + '; ' + advice, position);
  }

  read(text) { return new Reader(text, this.names).whole(); }

  // The axes of the attributes that a condition speaks of, ascending.
  touched(node) {
    const axes = leaves(node).flatMap(leaf => (leaf.is === 'relation' ? leaf.terms : [leaf]).map(({ name, position }) => {
      const { attribute, level } = this.find(name, position);
      if (leaf.is === 'relation' && level) {
        throw new ConditionError(quoted(name) + ' is a level of ' + quoted(attribute.name) + '; only attributes are compared with each other', position);
      }
      return attribute.axis;
    }));
    return [...new Set(axes)].sort((a, b) => a - b);
  }

  // True, false or open in every joint cell of some axes, places for missing values included.
  holds(node, axes) {
    const cells = product(axes.map(axis => this.attributes[axis].full));
    if (cells > MOST_JOINT) {
      throw new ConditionError('a condition couples ' + axes.map(axis => this.attributes[axis].name).join(', ')
        + ': too many joint cells for a page; split it with and');
    }
    switch (node.is) {
      case 'test': return this.spread(this.test(node), this.find(node.name).attribute.axis, axes);
      case 'missing': return this.spread(this.missing(node), this.find(node.name).attribute.axis, axes);
      case 'relation': return this.relation(node, axes);
      case 'not': return this.holds(node.inner, axes).map(found => OPPOSITE[found]);
      case 'is': {
        const wanted = node.value ? TRUE : FALSE;
        return this.holds(node.inner, axes).map(found => ((found === wanted) !== node.negated ? TRUE : FALSE));
      }
      default: return node.parts.map(part => this.holds(part, axes)).reduce((a, b) => joinedTruth(a, b, node.is));
    }
  }

  spread(along, axis, axes) {
    const shape = axes.map(at => this.attributes[at].full);
    const at = axes.indexOf(axis);
    const after = product(shape.slice(at + 1));
    const out = new Uint8Array(product(shape));
    for (let cell = 0, i = 0; cell < out.length; cell += after, i = (i + 1) % shape[at]) out.fill(along[i], cell, cell + after);
    return out;
  }

  missing({ name, negated, position }) {
    const { attribute } = this.find(name);
    if (!attribute.keeps && attribute.other != null) {
      throw new ConditionError('missing values of ' + nameText(attribute.name) + ' share the bucket '
        + quoted(attribute.other) + ' with other values; compare with it instead', position);
    }
    if (!attribute.keeps && !negated) {
      throw new ConditionError(nameText(attribute.name) + ' has no place for missing values: records without a known '
        + 'value are left out of every count', position);
    }
    return range(attribute.full).map(cell => ((cell === attribute.size) !== negated ? TRUE : FALSE));
  }

  test(node) {
    const { attribute, level } = this.find(node.name, node.position);
    let found;
    if (node.part) found = partCells(node, attribute);
    else if (attribute.kind === 'date') found = new DateCuts(node, attribute).cells();
    else if (attribute.kind === 'number') found = new NumberCuts(node, attribute).cells();
    else if (level) {
      const types = new Set(level.values.map(typeOf));
      const chosen = categoryCells(node, level.values, types.size === 1 ? [...types][0] : 'str');
      found = range(attribute.size).map(cell => chosen[level.groups[cell]]);
    } else found = categoryCells(node, attribute.values, attribute.type);
    const decided = found.map(held => (held ? TRUE : FALSE));
    return attribute.keeps ? [...decided, OPEN] : decided;
  }

  relation({ terms, comparison, constant, position }, axes) {
    const values = terms.map(({ name, position: at }) => {
      const { value } = this.find(name).attribute;
      if (value.why) throw new ConditionError(value.why, at);
      return value;
    });
    const kinds = [...new Set(values.map(value => value.kind))].sort();
    if (kinds.length > 1) throw new ConditionError('this compares ' + kinds.join(' with '), position);
    const signs = terms.map(term => term.sign);
    const total = signs.reduce((a, b) => a + b, 0);
    if (kinds[0] === 'text' && !(terms.length === 2 && total === 0 && !constant && ['=', '!='].includes(comparison))) {
      throw new ConditionError('text has no order and no sum; compare the two with = or !=', position);
    }
    if (kinds[0] === 'days' && total !== 0) {
      throw new ConditionError('days can be compared or taken from each other, not added', position);
    }
    const along = values.map(value => (value.kind === 'text' ? value.values : unpacked(value.values)));
    const shape = axes.map(axis => this.attributes[axis].full);
    const steps = strides(shape);
    const where = terms.map(term => axes.indexOf(this.find(term.name).attribute.axis));
    const compare = COMPARE[comparison];
    return Uint8Array.from({ length: product(shape) }, (_, cell) => {
      const own = where.map((at, number) => along[number][Math.floor(cell / steps[at]) % shape[at]]);
      if (own.includes(undefined)) return OPEN;
      const held = kinds[0] === 'text' ? compare(own[0], own[1])
        : compare(own.reduce((sum, value, number) => sum + signs[number] * value, 0), constant);
      return held ? TRUE : FALSE;
    });
  }
}

// a and b, or a or b, cell by cell: one side may decide it, else both must be decided.
function joinedTruth(a, b, word) {
  const [all, any] = word === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
  const out = new Uint8Array(a.length);
  for (let cell = 0; cell < out.length; cell += 1) {
    if (a[cell] === any || b[cell] === any) out[cell] = any;
    else out[cell] = a[cell] === all && b[cell] === all ? all : OPEN;
  }
  return out;
}

const typeOf = label => ({ string: 'str', boolean: 'bool', number: 'int' }[typeof label]);

function categoryCells({ name, comparison, values, position }, labels, kind) {
  const fail = message => { throw new ConditionError(message, position); };
  if (['=', '!=', 'in'].includes(comparison)) {
    const chosen = values.map(value => {
      const at = labels.findIndex(label => typeOf(label) === value.type && label === value.value);
      if (at >= 0) return at;
      const list = 'known: ' + known(labels.map(label => valueText({ type: typeOf(label), value: label })));
      if (value.type !== kind && !(kind === 'int' && value.type === 'float')) {
        fail(nameText(name) + ' holds ' + KIND_NAMES[kind] + ', it cannot equal ' + valueText(value) + '; ' + list);
      }
      return fail(nameText(name) + ' has no category ' + valueText(value) + '; ' + list);
    });
    return labels.map((_, at) => chosen.includes(at) !== (comparison === '!='));
  }
  if (kind !== 'int' || labels.some(label => typeof label === 'string')) {
    fail((kind === 'int' ? 'its bucket for everything else' : KIND_NAMES[kind] + ' like these')
      + ' has no order; compare ' + nameText(name) + ' with =, != or in');
  }
  if (values.some(value => ['bool', 'str'].includes(value.type))) {
    fail(nameText(name) + ' holds integers, compare it with a number');
  }
  const [first, second] = values.map(value => value.value);
  if (comparison === 'between') {
    if (first > second) fail('between needs its lower end first, got ' + first + ' and ' + second);
    return labels.map(label => first <= label && label <= second);
  }
  return labels.map(label => COMPARE[comparison](label, first));
}

function partCells({ name, part, comparison, values, position }, attribute) {
  const fail = message => { throw new ConditionError(message, position); };
  if (attribute.kind !== 'date') fail(part + '(' + nameText(name) + '): only attributes that hold dates have parts');
  if (values.some(value => ['bool', 'str'].includes(value.type))) fail(part + '(' + nameText(name) + ') is a whole number; compare it with one');
  const wanted = values.map(value => value.value);
  const held = value => {
    if (comparison === 'in') return wanted.includes(value);
    return comparison === 'between' ? wanted[0] <= value && value <= wanted[1] : COMPARE[comparison](value, wanted[0]);
  };
  const long = 'the cells of ' + name + ' are too long to decide this; compare ' + name + ' itself with dates';
  const found = attribute.parts[part] || fail(long);
  const decided = found.sets.map(set => new Set(set.map(held)));
  return Array.from(unpacked(found.cells), at => (decided[at].size > 1 ? fail(long) : decided[at].has(true)));
}
