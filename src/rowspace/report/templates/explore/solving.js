// Strategies over cells: from a query to the coefficients of its noise, and their moments (rowspace.error.moments).
class Unsupported extends ConditionError {
  constructor() {
    super('this was not measured finely enough for an answer without bias; ask for less detail, such as fewer attributes or wider ranges');
  }
}

const TINY = 1e-9;
const MOST_COEFFICIENTS = 2 ** 27;

// The smallest coefficient if it divides the others, else one if all are whole, else zero.
function spacingOf(coefficients) {
  let [largest, smallest] = [0, Infinity];
  for (const value of coefficients) largest = Math.max(largest, Math.abs(value));
  const tiny = TINY * largest;
  for (const value of coefficients) if (Math.abs(value) > tiny) smallest = Math.min(smallest, Math.abs(value));
  const divides = step => coefficients.every(value => {
    const size = Math.abs(value);
    const multiple = size / step;
    const nearest = Math.max(rounded(multiple), Number(size > tiny));
    return Math.abs(multiple - nearest) <= 1e-7 * Math.max(multiple, 1);
  });
  return [Number.isFinite(smallest) ? smallest : 0, 1].find(step => step > 0 && divides(step)) || 0;
}

// To the nearest whole number, halves to the even one.
function rounded(value) {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

function momentsOf(coefficients, fine) {
  let [second, fourth, largest] = [0, 0, 0];
  for (const value of coefficients) {
    const square = value * value;
    second += square;
    fourth += square * square;
    largest = Math.max(largest, square);
  }
  return [second, fourth, Math.sqrt(largest), fine ? 0 : spacingOf(coefficients)];
}

// The inverse of a symmetric positive matrix, by Cholesky.
function inverted(gram, n) {
  const L = Float64Array.from(gram);
  for (let j = 0; j < n; j += 1) {
    for (let i = j; i < n; i += 1) {
      let sum = L[i * n + j];
      for (let k = 0; k < j; k += 1) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i === j ? Math.sqrt(sum) : sum / L[j * n + j];
    }
  }
  // L⁻¹ by rows, then (LLᵗ)⁻¹ = L⁻ᵗL⁻¹.
  const M = new Float64Array(n * n);
  for (let i = 0; i < n; i += 1) {
    for (let k = 0; k < i; k += 1) {
      const share = L[i * n + k];
      if (share) for (let j = 0; j <= k; j += 1) M[i * n + j] -= share * M[k * n + j];
    }
    for (let j = 0; j < i; j += 1) M[i * n + j] /= L[i * n + i];
    M[i * n + i] = 1 / L[i * n + i];
  }
  const out = new Float64Array(n * n);
  for (let k = 0; k < n; k += 1) {
    for (let i = 0; i <= k; i += 1) {
      const share = M[k * n + i];
      if (share) for (let j = 0; j <= i; j += 1) out[i * n + j] += share * M[k * n + j];
    }
  }
  for (let i = 0; i < n; i += 1) for (let j = 0; j < i; j += 1) out[j * n + i] = out[i * n + j];
  return out;
}

// Rows of entries, from lists.
const packed = ({ rows, width, starts, columns, values }) => ({
  rows, width, starts: Int32Array.from(starts), columns: Int32Array.from(columns), values: Float64Array.from(values),
});

// A · w.
function times(A, w) {
  const out = new Float64Array(A.rows);
  for (let row = 0; row < A.rows; row += 1) {
    let sum = 0;
    for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) sum += A.values[k] * w[A.columns[k]];
    out[row] = sum;
  }
  return out;
}

// A · Bᵗ, dense, for two matrices of as many columns.
function withRowsOf(A, B) {
  const out = new Float64Array(A.rows * B.rows);
  const line = new Float64Array(A.width);
  for (let row = 0; row < A.rows; row += 1) {
    line.fill(0);
    for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) line[A.columns[k]] = A.values[k];
    out.set(times(B, line), row * B.rows);
  }
  return out;
}

// (m × k) · (k × n), dense.
function multiplied(A, B, m, k, n) {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i += 1) {
    for (let l = 0; l < k; l += 1) {
      const share = A[i * k + l];
      if (share) for (let j = 0; j < n; j += 1) out[i * n + j] += share * B[l * n + j];
    }
  }
  return out;
}

function transposed(A, m, n) {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i += 1) for (let j = 0; j < n; j += 1) out[j * m + i] = A[i * n + j];
  return out;
}

function someRows(A, rows) {
  const out = { rows: rows.length, width: A.width, starts: [0], columns: [], values: [] };
  for (const row of rows) {
    for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) { out.columns.push(A.columns[k]); out.values.push(A.values[k]); }
    out.starts.push(out.columns.length);
  }
  return packed(out);
}

// Every row divided by a number of its own.
function dividedRows(A, numbers) {
  const values = Float64Array.from(A.values);
  for (let row = 0; row < A.rows; row += 1) for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) values[k] /= numbers[row];
  return { ...A, values };
}

function rowNorms(A) {
  const out = new Float64Array(A.rows);
  for (let row = 0; row < A.rows; row += 1) for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) out[row] += A.values[k] ** 2;
  return out.map(Math.sqrt);
}

// Rows of products of small matrices, stacked.
function stacked(blocks, scale) {
  const out = { rows: 0, width: 0, starts: [0], columns: [], values: [] };
  for (const block of blocks) {
    let joint = packed({ rows: 1, width: 1, starts: [0, 1], columns: [0], values: [scale] });
    for (const matrix of block.map(unpackedMatrix)) joint = kronecker(joint, matrix);
    const before = out.columns.length;
    for (let k = 0; k < joint.columns.length; k += 1) { out.columns.push(joint.columns[k]); out.values.push(joint.values[k]); }
    for (let row = 1; row <= joint.rows; row += 1) out.starts.push(before + joint.starts[row]);
    out.rows += joint.rows;
    out.width = joint.width;
  }
  return packed(out);
}

function kronecker(A, B) {
  const out = { rows: A.rows * B.rows, width: A.width * B.width, starts: [0], columns: [], values: [] };
  for (let a = 0; a < A.rows; a += 1) {
    for (let b = 0; b < B.rows; b += 1) {
      for (let i = A.starts[a]; i < A.starts[a + 1]; i += 1) {
        for (let j = B.starts[b]; j < B.starts[b + 1]; j += 1) {
          out.columns.push(A.columns[i] * B.width + B.columns[j]);
          out.values.push(A.values[i] * B.values[j]);
        }
      }
      out.starts.push(out.columns.length);
    }
  }
  return packed(out);
}

// c = Aᵗ⁺w by a matrix that leads there directly: A(AᵗA)⁻¹, or A⁺ as it was written down (cells × rows).
class DirectSystem {
  constructor(leading, rows) { Object.assign(this, { leading, rows }); }

  coefficients(w) {
    const c = new Float64Array(this.rows);
    for (let cell = 0; cell < w.length; cell += 1) {
      const [share, from] = [w[cell], cell * c.length];
      if (share) for (let i = 0; i < c.length; i += 1) c[i] += share * this.leading[from + i];
    }
    return c;
  }

  // Columns are brought to one size first.
  static byColumns(A) {
    const [m, n] = [A.rows, A.width];
    const size = new Float64Array(n);
    for (let k = 0; k < A.columns.length; k += 1) size[A.columns[k]] += A.values[k] ** 2;
    const root = size.map(Math.sqrt);
    const turned = new Float64Array(n * m);
    for (let row = 0; row < m; row += 1) {
      for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) turned[A.columns[k] * m + row] = A.values[k] / root[A.columns[k]];
    }
    const unit = { ...A, values: A.values.map((value, k) => value / root[A.columns[k]]) };
    const gram = new Float64Array(n * n);
    for (let row = 0; row < m; row += 1) {
      for (let i = A.starts[row]; i < A.starts[row + 1]; i += 1) {
        const [share, from] = [unit.values[i], unit.columns[i] * n];
        for (let j = A.starts[row]; j < A.starts[row + 1]; j += 1) gram[from + unit.columns[j]] += share * unit.values[j];
      }
    }
    const found = multiplied(inverted(gram, n), turned, n, n, m);
    for (let cell = 0; cell < n; cell += 1) for (let i = 0; i < m; i += 1) found[cell * m + i] /= root[cell];
    return new DirectSystem(found, m);
  }
}

// By independent rows B, which all others are combinations D of: w = Bᵗb, and the least c with Aᵗc = w has
// (I + DᵗD)⁻¹b = b − Dᵗ(I + DDᵗ)⁻¹Db at the rows of B, and D times that at the others. All of it is one matrix, from Bw
// with its rows brought to one size: most questions meet few of them.
class RowSystem {
  constructor(A, rows) {
    const inside = new Set(rows);
    const others = range(A.rows).filter(row => !inside.has(row));
    const [r, d] = [rows.length, others.length];
    const B = someRows(A, rows);
    const norms = rowNorms(B);
    this.unit = dividedRows(B, norms);
    const inverse = inverted(withRowsOf(this.unit, this.unit), r);
    const D = multiplied(withRowsOf(someRows(A, others), this.unit), inverse, d, r, r);
    for (let at = 0; at < D.length; at += 1) D[at] /= norms[at % r];
    const gram = multiplied(D, transposed(D, d, r), d, r, d);
    for (let at = 0; at < d; at += 1) gram[at * d + at] += 1;
    const P = inverse;
    for (let at = 0; at < r; at += 1) for (let j = 0; j < r; j += 1) P[at * r + j] /= norms[at];
    const beyond = multiplied(inverted(gram, d), multiplied(D, P, d, r, r), d, d, r);
    const less = multiplied(transposed(D, d, r), beyond, r, d, r);
    for (let at = 0; at < P.length; at += 1) P[at] -= less[at];
    const leading = new Float64Array(r * A.rows);
    const put = (matrix, places) => places.forEach((row, at) => {
      for (let j = 0; j < r; j += 1) leading[j * A.rows + row] = matrix[at * r + j];
    });
    put(P, rows);
    put(multiplied(D, P, d, r, r), others);
    this.direct = new DirectSystem(leading, A.rows);
  }

  coefficients(w) { return this.direct.coefficients(times(this.unit, w)); }
}
