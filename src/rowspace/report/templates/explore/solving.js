// Strategies over cells: from a query to the coefficients of its noise, and their moments (rowspace.error.moments).
class Unsupported extends ConditionError {
  constructor() {
    super('this release has not measured this finely enough to answer it without bias; ask for sums of what was measured');
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

// (rows of A) · (a dense matrix of so many columns).
function times(A, dense, columns) {
  const out = new Float64Array(A.rows * columns);
  for (let row = 0; row < A.rows; row += 1) {
    for (let at = A.starts[row]; at < A.starts[row + 1]; at += 1) {
      const [share, from] = [A.values[at], A.columns[at] * columns];
      for (let j = 0; j < columns; j += 1) out[row * columns + j] += share * dense[from + j];
    }
  }
  return out;
}

const asRows = (dense, rows, width) => ({
  rows, width, values: dense, starts: Int32Array.from({ length: rows + 1 }, (_, row) => row * width),
  columns: Int32Array.from({ length: rows * width }, (_, at) => at % width),
});

function transposed(dense, rows, columns) {
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i += 1) for (let j = 0; j < columns; j += 1) out[j * rows + i] = dense[i * columns + j];
  return out;
}

function someRows(A, rows, scale) {
  const out = { rows: rows.length, width: A.width, starts: [0], columns: [], values: [] };
  rows.forEach((row, at) => {
    for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) {
      out.columns.push(A.columns[k]);
      out.values.push(A.values[k] * scale[at]);
    }
    out.starts.push(out.columns.length);
  });
  return out;
}

const dense = A => times(A, Float64Array.from({ length: A.width * A.width }, (_, at) => Number(at % (A.width + 1) === 0)), A.width);

// A · Bᵗ for two matrices of as many columns.
function withRowsOf(A, B) {
  const out = new Float64Array(A.rows * B.rows);
  const line = new Float64Array(A.width);
  for (let row = 0; row < A.rows; row += 1) {
    line.fill(0);
    for (let k = A.starts[row]; k < A.starts[row + 1]; k += 1) line[A.columns[k]] = A.values[k];
    for (let other = 0; other < B.rows; other += 1) {
      let sum = 0;
      for (let k = B.starts[other]; k < B.starts[other + 1]; k += 1) sum += B.values[k] * line[B.columns[k]];
      out[row * B.rows + other] = sum;
    }
  }
  return out;
}

// Rows of products of small matrices, stacked.
function stacked(blocks, scale) {
  const out = { rows: 0, width: 0, starts: [0], columns: [], values: [] };
  for (const block of blocks) {
    let joint = { rows: 1, width: 1, starts: [0, 1], columns: [0], values: [scale] };
    for (const matrix of block.map(unpackedMatrix)) joint = kronecker(joint, matrix);
    const before = out.columns.length;
    for (let k = 0; k < joint.columns.length; k += 1) { out.columns.push(joint.columns[k]); out.values.push(joint.values[k]); }
    for (let row = 1; row <= joint.rows; row += 1) out.starts.push(before + joint.starts[row]);
    out.rows += joint.rows;
    out.width = joint.width;
  }
  return out;
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
  return out;
}
