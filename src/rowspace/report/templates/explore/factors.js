// One factor of a strategy over cells, and the whole: c = wA⁺ without A⁺ (rowspace.report.explore.cells says how).
class Factor {
  constructor(view) {
    Object.assign(this, view);
    this.groups = view.groups && Int32Array.from(unpacked(view.groups));
    if (this.groups) {
      this.members = new Float64Array(view.cells);
      for (const group of this.groups) this.members[group] += 1;
    }
  }

  // Solved when first asked for.
  get system() {
    if (!this.solved) {
      this.matrix = stacked(this.blocks, this.scale);
      this.solved = this.prepared();
    }
    return this.solved;
  }

  prepared() {
    if (this.solve === 'columns') return DirectSystem.byColumns(this.matrix);
    if (this.solve === 'rows') return new RowSystem(this.matrix, Array.from(unpacked(this.rows)));
    const { rows, width, starts, columns, values } = unpackedMatrix(this.inverse);
    const leading = new Float64Array(rows * width);
    for (let row = 0; row < rows; row += 1) {
      for (let k = starts[row]; k < starts[row + 1]; k += 1) leading[row * width + columns[k]] = values[k] / this.scale;
    }
    return new DirectSystem(leading, width);
  }

  coefficients(query) {
    const w = this.groups ? this.merged(query) : query;
    if (this.diagonal) return w.map(value => value / this.scale);
    const c = this.system.coefficients(w);
    if (this.solve === 'columns' || this.whole) return c;
    // w is in the row space exactly when nothing of it is left beyond its projection, whose square is c·Aw.
    const asked = times(this.matrix, w);
    let [whole, within] = [0, 0];
    for (const value of w) whole += value * value;
    for (let i = 0; i < c.length; i += 1) within += c[i] * asked[i];
    if (whole - within > 1e-9 * whole) throw new Unsupported();
    return c;
  }

  // The mean over cells that are not told apart, which must all be asked alike.
  merged(query) {
    const out = new Float64Array(this.cells);
    for (let cell = 0; cell < query.length; cell += 1) out[this.groups[cell]] += query[cell];
    for (let group = 0; group < out.length; group += 1) out[group] /= this.members[group];
    if (query.some((value, cell) => Math.abs(value - out[this.groups[cell]]) > 1e-9)) throw new Unsupported();
    return out;
  }
}

class CellErrors {
  constructor(view, shape) {
    Object.assign(this, view, { shape });
    this.factors = view.factors.map(factor => new Factor(factor));
  }

  moments(pieces) {
    const out = this.isProduct(pieces) ? this.ofFactors(pieces) : this.ofWhole(pieces);
    if (this.widest) return out.map(([second]) => [second, second * second, Math.sqrt(second), 0]);
    const within = this.axes && pieces.every(piece => this.axes.some(own => piece.axes.every(axis => own.includes(axis))));
    return within ? out.map(([second, fourth, largest]) => [second, fourth, largest, 0]) : out;
  }

  // Whether the query is a product of one for every factor, and the moments are found factor by factor.
  isProduct(pieces) {
    const spans = [];
    let end = -1;
    const others = range(this.shape.length).filter(axis => !pieces.some(piece => piece.axes.includes(axis)));
    const all = [...pieces.map(piece => piece.axes), ...others.map(axis => [axis])].sort((a, b) => a[0] - b[0]);
    for (const axes of all) {
      if (axes[0] > end) spans.push({ cells: 1 });
      spans.at(-1).after = Math.max(end, ...axes) + 1;
      end = spans.at(-1).after - 1;
    }
    spans.forEach((span, at) => { span.first = at ? spans[at - 1].after : 0; });
    const fits = this.factors.every(factor => pieces.every(piece => {
      const inside = piece.axes.filter(axis => factor.first <= axis && axis < factor.after).length;
      return inside === 0 || inside === piece.axes.length;
    }));
    if (!this.product) return fits && this.fine && this.factors.length > 1;
    if (spans.length === 1) return false;
    const left = spans.map(span => product(this.shape.slice(span.first, span.after)));
    for (const { columns } of this.factors) {
      if (!left.length) return false;
      let cells = left.shift();
      while (left.length && cells < columns) cells *= left.shift();
      if (cells !== columns) return false;
    }
    return !left.length && fits;
  }

  ofFactors(pieces) {
    let out = [[1, 1, 1, 1]];
    for (const factor of this.factors) {
      const own = pieces.filter(piece => factor.first <= piece.axes[0] && piece.axes[0] < factor.after);
      const shape = this.shape.slice(factor.first, factor.after);
      const found = [...combinations(own)].map(rows => momentsOf(
        factor.coefficients(tableOf(own, rows, shape, factor.first)), factor.fine || (!this.product && this.fine)));
      out = out.flatMap(left => found.map(right => left.map((value, at) => value * right[at])));
    }
    return out;
  }

  ofWhole(pieces) {
    const cells = product(this.shape);
    const queries = product(pieces.map(piece => piece.rows.length));
    if (queries * cells > MOST_COEFFICIENTS) {
      throw new ConditionError('error bars of so many answers at once take a page too long; choose a coarser level');
    }
    return [...combinations(pieces)].map(rows => momentsOf(this.coefficients(tableOf(pieces, rows, this.shape, 0)), this.fine));
  }

  coefficients(query) {
    let table = { shape: this.factors.map(factor => product(this.shape.slice(factor.first, factor.after))), data: query };
    this.factors.forEach((factor, axis) => { table = changedAlong(table, axis, line => factor.coefficients(line)); });
    return table.data;
  }
}

// One query over the cells of some attributes in a row: what it makes of a record in each, 1 where it counts it.
function tableOf(pieces, rows, shape, first) {
  const steps = strides(shape);
  let [cells, weights] = [[0], [1]];
  pieces.forEach((piece, number) => {
    const own = strides(piece.shape);
    const moved = piece.rows[rows[number]].map(cell => piece.axes.reduce(
      (sum, axis, at) => sum + (Math.floor(cell / own[at]) % piece.shape[at]) * steps[axis - first], 0));
    const shares = piece.weights ? piece.weights[rows[number]] : moved.map(() => 1);
    weights = weights.flatMap(weight => shares.map(share => weight * share));
    cells = cells.flatMap(cell => moved.map(more => cell + more));
  });
  const others = shape.map((_, at) => at).filter(at => !pieces.some(piece => piece.axes.includes(first + at)));
  const along = cellsAlong(shape, others, steps);
  const out = new Float64Array(product(shape));
  cells.forEach((cell, at) => { for (const more of along) out[cell + more] = weights[at]; });
  return out;
}
