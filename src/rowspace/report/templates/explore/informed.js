// Answers that keep to public facts: known totals, cells that hold nobody (rowspace.strategy.open_cells and corrected).
const DEPENDENT = 1e-9;

const errorsOf = (view, shape) => {
  if (view.kind === 'open') return new OpenErrors(view, shape);
  if (view.kind === 'corrected') return new CorrectedErrors(view, shape);
  return view.kind === 'tables' ? new TableErrors(view) : new CellErrors(view, shape);
};
const estimateOf = (view, shape) => (view.kind === 'cells' ? new CellEstimate(view, shape) : new ComponentEstimate(view));

// Few cells: from a query straight to its coefficients, which are none where the facts determine its answer.
class OpenErrors {
  constructor(view, shape) {
    const { values, starts, columns, rows, width } = unpackedMatrix(view.leading);
    const leading = new Float64Array(rows * width);
    for (let row = 0; row < rows; row += 1) for (let k = starts[row]; k < starts[row + 1]; k += 1) leading[row * width + columns[k]] = values[k];
    this.system = new DirectSystem(leading, width);
    this.unseen = view.unseen && unpackedMatrix(view.unseen);
    Object.assign(this, { shape, scale: view.scale });
  }

  moments(pieces) {
    return [...combinations(pieces)].map(rows => {
      const query = tableOf(pieces, rows, this.shape, 0);
      const size = query.reduce((sum, value) => sum + value * value, 0);
      this.check(query, size);
      const [second, fourth, largest] = momentsOf(this.system.coefficients(query), true);
      return second * this.scale <= 1e-10 * Math.max(1, size) ? [0, 0, 0, 0] : [second, fourth, largest, 0];
    });
  }

  check(query, size) {
    if (!this.unseen) return;
    const { starts, columns, values, width, rows } = this.unseen;
    const left = new Float64Array(width);
    for (let row = 0; row < rows; row += 1) {
      if (query[row]) for (let k = starts[row]; k < starts[row + 1]; k += 1) left[columns[k]] += query[row] * values[k];
    }
    if (Math.sqrt(left.reduce((sum, value) => sum + value * value, 0)) > 1e-7 * Math.sqrt(size)) throw new Unsupported();
  }
}

// Many cells: variances fall by what the facts say of the noise.
class CorrectedErrors {
  constructor(view, shape) {
    this.base = errorsOf(view.own, shape);
    this.covariances = view.covariances.map(own => estimateOf(own, shape));
    this.inverse = unpacked(view.inverse);
  }

  moments(pieces) {
    const before = this.base.moments(pieces);
    const shared = this.covariances.map(own => own.answers(pieces));
    const n = shared.length;
    return before.map(([second], query) => {
      let taken = 0;
      for (let i = 0; i < n; i += 1) {
        if (shared[i][query]) for (let j = 0; j < n; j += 1) taken += shared[i][query] * this.inverse[i * n + j] * shared[j][query];
      }
      const left = second - taken;
      const kept = left <= DEPENDENT * second ? 0 : left;
      return [kept, kept * kept, Math.sqrt(kept), 0];
    });
  }
}
