// Numbers from text, and arrays of several axes in C order.
const KINDS = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f8: Float64Array };

function unpacked(packed) {
  const [kind] = Object.keys(packed);
  const bytes = Uint8Array.from(atob(packed[kind]), letter => letter.charCodeAt(0));
  return Float64Array.from(new KINDS[kind](bytes.buffer));
}

// A matrix as rows of entries: starts, columns, values.
function unpackedMatrix(packed) {
  const [rows, width] = packed.shape;
  if (!packed.dense) {
    const [starts, columns, values] = [packed.starts, packed.columns, packed.values].map(unpacked);
    return { rows, width, starts: Int32Array.from(starts), columns: Int32Array.from(columns), values };
  }
  const values = unpacked(packed.dense);
  const starts = Int32Array.from({ length: rows + 1 }, (_, row) => row * width);
  return { rows, width, starts, columns: Int32Array.from(values, (_, at) => at % width), values };
}

const product = numbers => numbers.reduce((a, b) => a * b, 1);
const range = length => Array.from({ length }, (_, at) => at);

// All choices of true and false for some places, in C order.
const patterns = length => range(2 ** length).map(number => range(length).map(at => (number >> (length - 1 - at)) % 2 === 1));

// All products of a number of each.
function outer(a, b) {
  const out = new Float64Array(a.length * b.length);
  for (let i = 0; i < a.length; i += 1) {
    for (let j = 0; j < b.length; j += 1) out[i * b.length + j] = a[i] * b[j];
  }
  return out;
}

function strides(shape) {
  const out = new Array(shape.length).fill(1);
  for (let at = shape.length - 2; at >= 0; at -= 1) out[at] = out[at + 1] * shape[at + 1];
  return out;
}

// For every cell of an array the number of the cell that has other axes in the order given: `from` axes of `shape`.
function cellsAlong(shape, from, weights) {
  let out = new Int32Array(1);
  for (const axis of from) {
    const next = new Int32Array(out.length * shape[axis]);
    for (let at = 0; at < out.length; at += 1) {
      for (let i = 0; i < shape[axis]; i += 1) next[at * shape[axis] + i] = out[at] + i * weights[axis];
    }
    out = next;
  }
  return out;
}

// An array asked the rows of a piece about some of its axes: those axes go, and one of the rows comes last.
function contracted(table, axes, { rows, weights }) {
  const { shape, data } = table;
  const steps = strides(shape);
  const rest = range(shape.length).filter(axis => !axes.includes(axis));
  const own = cellsAlong(shape, axes, steps);
  const others = cellsAlong(shape, rest, steps);
  const out = new Float64Array(others.length * rows.length);
  for (let at = 0; at < others.length; at += 1) {
    for (let row = 0; row < rows.length; row += 1) {
      let sum = 0;
      rows[row].forEach((cell, place) => { sum += data[others[at] + own[cell]] * (weights ? weights[row][place] : 1); });
      out[at * rows.length + row] = sum;
    }
  }
  return { shape: [...rest.map(axis => shape[axis]), rows.length], data: out };
}

// The axes of an array that questions do not name, added up.
function summedOut(table, axes) {
  let found = table;
  for (const axis of [...axes].sort((a, b) => b - a)) {
    const { shape, data } = found;
    const after = product(shape.slice(axis + 1));
    const before = product(shape.slice(0, axis));
    const out = new Float64Array(before * after);
    for (let b = 0; b < before; b += 1) {
      for (let i = 0; i < shape[axis]; i += 1) {
        for (let a = 0; a < after; a += 1) out[b * after + a] += data[(b * shape[axis] + i) * after + a];
      }
    }
    found = { shape: shape.filter((_, at) => at !== axis), data: out };
  }
  return found;
}

// Every line of an array along one axis, changed by a function from numbers to numbers of any length.
function changedAlong(table, axis, change) {
  const { shape, data } = table;
  const after = product(shape.slice(axis + 1));
  const before = product(shape.slice(0, axis));
  const line = new Float64Array(shape[axis]);
  let length = 0;
  let out = null;
  for (let b = 0; b < before; b += 1) {
    for (let a = 0; a < after; a += 1) {
      for (let i = 0; i < line.length; i += 1) line[i] = data[(b * line.length + i) * after + a];
      const found = change(line);
      if (out === null) { length = found.length; out = new Float64Array(before * length * after); }
      for (let i = 0; i < length; i += 1) out[(b * length + i) * after + a] = found[i];
    }
  }
  return { shape: shape.map((size, at) => (at === axis ? length : size)), data: out };
}
