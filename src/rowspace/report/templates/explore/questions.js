// A question as a product of pieces: rows of 0 and 1 over the cells of separate attributes, as rowspace.workload has it.
const MOST_ROWS = 10000;

// Conditions and keys gathered by the attributes they share, directly or through others.
function gathered(items) {
  let groups = [];
  for (const item of items) {
    const sharing = groups.filter(group => group.axes.some(axis => item.axes.includes(axis)));
    const apart = groups.filter(group => !sharing.includes(group));
    const all = [...sharing, item];
    groups = [...apart, {
      axes: [...new Set(all.flatMap(group => group.axes))].sort((a, b) => a - b),
      conditions: all.flatMap(group => group.conditions),
      keys: all.flatMap(group => group.keys),
    }];
  }
  return groups.sort((a, b) => a.axes[0] - b.axes[0]);
}

// by: names of attributes or levels; where: a condition, read or not, or nothing; measured: a piece about a measure.
function piecesOf(domain, by, where, measured = []) {
  const conditions = where ? conjuncts(typeof where === 'string' ? domain.read(where) : where) : [];
  const keys = by.map(name => domain.find(name));
  const items = [
    ...conditions.map(node => ({ axes: domain.touched(node), conditions: [node], keys: [] })),
    ...keys.map((key, number) => ({ axes: [key.attribute.axis], conditions: [], keys: [number] })),
  ];
  const pieces = gathered(items).map(group => (
    !group.conditions.length && group.keys.length === 1 ? family(keys[group.keys[0]], group) : grouped(domain, keys, group)));
  if (product(pieces.map(piece => piece.rows.length)) > MOST_ROWS) {
    throw new ConditionError('this has more than ' + MOST_ROWS.toLocaleString('en') + ' answers; choose a coarser level');
  }
  pieces.push(...measured);
  checkCounted(domain, pieces);
  return pieces.map(piece => narrowed(piece, piece.axes.map(axis => domain.attributes[axis].counted)));
}

// What records in the cells of a measure add, in some rows; its place for missing values is in none.
const ofMeasure = ({ axis, full, size }, ...weights) => ({
  axes: [axis], keys: [], shape: [full], rows: weights.map(() => range(size)), weights, codes: weights.map(() => []), cells: false,
});

// One query as one row over all its attributes at once, and its numbers over a measure instead of those it had.
function jointly(pieces, rows, shape, weights) {
  const axes = pieces.flatMap(piece => piece.axes).sort((a, b) => a - b);
  const own = pieces.map((piece, at) => (at < pieces.length - 1 ? piece : { ...piece, rows: [range(weights.length)], weights: [weights] }));
  const sizes = axes.map(axis => shape[axis]);
  const query = tableOf(own.map(piece => ({ ...piece, axes: piece.axes.map(axis => axes.indexOf(axis)) })), [...rows.slice(0, -1), 0], sizes, 0);
  const cells = range(query.length).filter(cell => query[cell] !== 0);
  return { axes, keys: [], shape: sizes, rows: [cells], weights: [cells.map(cell => query[cell])], codes: [[]], cells: false, identity: false };
}

// Every cell of an attribute, or every label of a level.
function family({ attribute, level }, { axes, keys }) {
  const size = level ? level.values.length : attribute.size;
  const rows = range(size).map(() => []);
  for (let cell = 0; cell < attribute.size; cell += 1) rows[level ? level.groups[cell] : cell].push(cell);
  return { axes, keys, shape: [attribute.full], rows, codes: range(size).map(code => [code]), cells: !level };
}

// One row for each group that the conditions leave, over the joint cells of some attributes.
function grouped(domain, keys, { axes, conditions, keys: numbers }) {
  const shape = axes.map(axis => domain.attributes[axis].full);
  const steps = strides(shape);
  const held = conditions.length ? domain.holds({ is: 'and', parts: conditions }, axes) : new Uint8Array(product(shape)).fill(TRUE);
  const own = numbers.map(number => {
    const { attribute, level } = keys[number];
    const at = axes.indexOf(attribute.axis);
    const size = level ? level.values.length : attribute.size;
    return { at, size, code: cell => (cell === attribute.size ? size : (level ? level.groups[cell] : cell)) };
  });
  const along = (cell, at) => Math.floor(cell / steps[at]) % shape[at];
  const rows = new Map();
  for (const known of [true, false]) {
    for (let cell = 0; cell < held.length; cell += 1) {
      if (held[cell] !== TRUE) continue;
      const codes = own.map(({ at, code }) => code(along(cell, at)));
      // As in all tables, no group for missing values; where the condition leaves nothing else, they are meant.
      if (known && codes.some((code, number) => code === own[number].size)) continue;
      const key = codes.reduce((sum, code, number) => sum * (own[number].size + 1) + code, 0);
      if (!rows.has(key)) rows.set(key, { codes, cells: [] });
      rows.get(key).cells.push(cell);
    }
    if (rows.size) break;
  }
  if (!rows.size) throw new ConditionError('no cell of the domain satisfies this: the answer would always be 0', 0);
  const sorted = [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
  return { axes, keys: numbers, shape, rows: sorted.map(row => row.cells), codes: sorted.map(row => row.codes), cells: false };
}

// Whether no row of a piece holds where an attribute's value is missing.
function isBlind(piece, axis, size) {
  const at = piece.axes.indexOf(axis);
  if (at < 0 || piece.shape[at] === size) return at >= 0;
  const step = strides(piece.shape)[at];
  return !piece.rows.some(row => row.some(cell => Math.floor(cell / step) % piece.shape[at] === size));
}

function checkCounted(domain, pieces) {
  for (const { axis, name, size, keeps, place } of domain.attributes) {
    if (keeps && !place && !pieces.some(piece => isBlind(piece, axis, size))) {
      throw new ConditionError('this release has not counted records whose ' + quoted(name) + ' is missing; ask among the '
        + 'others, as in: ' + nameText(name) + ' is not missing');
    }
  }
}

// The same rows over fewer cells along each axis: places that no row sees are gone.
function narrowed(piece, shape) {
  if (piece.shape.every((size, at) => size === shape[at])) return withIdentity(piece);
  const [old, steps] = [strides(piece.shape), strides(shape)];
  const moved = cell => shape.reduce((sum, _, at) => sum + (Math.floor(cell / old[at]) % piece.shape[at]) * steps[at], 0);
  return withIdentity({ ...piece, shape, rows: piece.rows.map(row => row.map(moved)) });
}

const withIdentity = piece => ({ ...piece, identity: piece.cells && piece.rows.length === piece.shape[0] });

// The numbers of the rows of every piece, query by query, in C order.
function* combinations(pieces) {
  const sizes = pieces.map(piece => piece.rows.length);
  const steps = strides(sizes);
  for (let query = 0; query < product(sizes); query += 1) {
    yield sizes.map((size, at) => Math.floor(query / steps[at]) % size);
  }
}
