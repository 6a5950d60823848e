// Strategies of tables: estimates and errors component by component (rowspace.tables, rowspace.error.moments).
const keyOf = axes => [...axes].sort((a, b) => a - b).join(',');
const bySet = pairs => new Map(pairs.map(([axes, value]) => [keyOf(axes), value]));
const weightOf = (piece, row, at) => (piece.weights ? piece.weights[row][at] : 1);
const chosen = (axes, pattern) => axes.filter((_, at) => pattern[at]);

// The estimated table over some attributes, put together from components, and what is asked of it.
class ComponentEstimate {
  constructor(view) {
    this.u = view.splits.map(unpacked);
    this.components = new Map(view.components.map(({ axes, table }) => [keyOf(axes), table]));
  }

  component(key) {
    const found = this.components.get(key);
    if (found && !(found instanceof Float64Array)) this.components.set(key, unpacked(found));
    return this.components.get(key);
  }

  // The last one is kept: the next question is mostly about the same attributes.
  table(axes) {
    const key = axes.join();
    if (this.key !== key) Object.assign(this, { key, kept: this.joint(axes) });
    return this.kept;
  }

  joint(axes) {
    const shape = axes.map(axis => this.u[axis].length);
    if (product(shape) > MOST_JOINT) throw new ConditionError('a table of so many cells is too large for a page; ask for fewer attributes at once');
    const out = new Float64Array(product(shape));
    for (const pattern of patterns(axes.length)) {
      const component = this.component(keyOf(chosen(axes, pattern)));
      if (component) this.add(out, shape, axes, pattern, component);
    }
    return { shape, data: out };
  }

  // One component, spread by u over the attributes it is not about.
  add(out, shape, axes, pattern, component) {
    const steps = strides(shape);
    const own = shape.map((size, at) => (pattern[at] ? size : 1));
    const places = strides(own);
    for (let cell = 0; cell < out.length; cell += 1) {
      let [at, share] = [0, 1];
      for (let axis = 0; axis < shape.length; axis += 1) {
        const here = Math.floor(cell / steps[axis]) % shape[axis];
        if (pattern[axis]) at += here * places[axis]; else share *= this.u[axes[axis]][here];
      }
      out[cell] += component[at] * share;
    }
  }

  answers(pieces) {
    const axes = pieces.flatMap(piece => piece.axes).sort((a, b) => a - b);
    let table = this.table(axes);
    let left = axes;
    for (const piece of pieces) {
      table = contracted(table, piece.axes.map(axis => left.indexOf(axis)), piece);
      left = [...left.filter(axis => !piece.axes.includes(axis)), null];
    }
    return table.data;
  }
}

class CellEstimate {
  constructor(view, shape) { this.whole = { shape, data: unpacked(view.cells) }; }

  answers(pieces) {
    const axes = range(this.whole.shape.length);
    const named = axes.filter(axis => pieces.some(piece => piece.axes.includes(axis)));
    let table = summedOut(this.whole, axes.filter(axis => !named.includes(axis)));
    let left = named;
    for (const piece of pieces) {
      table = contracted(table, piece.axes.map(axis => left.indexOf(axis)), piece);
      left = [...left.filter(axis => !piece.axes.includes(axis)), null];
    }
    return table.data;
  }
}

// How one attribute's queries split into what the total tells and what is left (rowspace.tables.splits).
class Split {
  constructor(view) {
    this.n = view.n;
    this.u = view.u ? unpacked(view.u) : new Float64Array(view.n).fill(1 / view.n);
    this.root = view.root && unpackedMatrix(view.root);
    this.unit = view.unit === undefined ? 1 : view.unit;
  }

  level(line) {
    let sum = 0;
    for (let cell = 0; cell < line.length; cell += 1) sum += line[cell] * this.u[cell];
    return sum;
  }

  resolved(line) {
    if (!this.root) {
      let mean = 0;
      for (const value of line) mean += value / this.n;
      return line.map(value => value - mean);
    }
    const { starts, columns, values, width, rows } = this.root;
    const out = new Float64Array(width);
    for (let row = 0; row < rows; row += 1) {
      if (line[row]) for (let k = starts[row]; k < starts[row + 1]; k += 1) out[columns[k]] += line[row] * values[k];
    }
    return out;
  }
}

class TableErrors {
  constructor(view) {
    this.splits = view.splits.map(split => new Split(split));
    this.variances = bySet(view.variances);
    this.most = view.most;
    this.alike = view.alike && { eigenvalues: bySet(view.alike.eigenvalues), tables: view.alike.tables };
    this.shape = view.shape && new NoiseShape(view.shape, this);
  }

  size(axes) { return product(axes.map(axis => this.splits[axis].n)); }

  moments(pieces) {
    const axes = pieces.flatMap(piece => piece.axes);
    const queries = product(pieces.map(piece => piece.rows.length));
    if (this.alike && pieces.every(piece => piece.identity)) {
      const one = this.ofCells(axes);
      return range(queries).map(() => one);
    }
    const second = this.second(pieces, axes);
    const single = pieces.every(piece => piece.axes.length === 1);
    if (this.shape && single && queries * product(axes.map(axis => this.shape.seen[axis].length)) <= this.most) {
      return this.shape.moments(pieces, second);
    }
    return Array.from(second, value => [value, value * value, Math.sqrt(value), 0]);
  }

  // Variances at unit noise, of all queries; Unsupported where some query needs a component that was not measured.
  second(pieces, axes) {
    const found = pieces.map(piece => piece.rows.map((_, row) => this.ofPiece(piece, row)));
    const all = patterns(axes.length).map(pattern => chosen(axes, pattern));
    const varies = all.map(own => own.every(axis => this.splits[axis].n > 1));
    const measured = all.map((own, at) => varies[at] && this.variances.has(keyOf(own)));
    if (varies.some((own, at) => own && !measured[at])) {
      const units = all.map(own => product(own.map(axis => this.splits[axis].unit)));
      const whole = combined(found, units.map((unit, at) => Number(varies[at]) * unit));
      const outside = combined(found, units.map((unit, at) => Number(varies[at] && !measured[at]) * unit));
      if (outside.some((value, at) => whole[at] > 0 && Math.sqrt(Math.max(value / whole[at], 0)) > 1e-7)) throw new Unsupported();
    }
    return combined(found, all.map((own, at) => (measured[at] ? this.variances.get(keyOf(own)) : 0)));
  }

  // For every set R of a piece's attributes: what one unit of R's variance costs a row.
  ofPiece(piece, row) {
    const query = new Float64Array(product(piece.shape));
    piece.rows[row].forEach((cell, at) => { query[cell] = weightOf(piece, row, at); });
    let tables = [{ shape: piece.shape, data: query }];
    piece.axes.forEach((axis, at) => {
      const split = this.splits[axis];
      tables = tables.flatMap(table => [line => [split.level(line)], line => split.resolved(line)].map(part => changedAlong(table, at, part)));
    });
    return tables.map(({ data }) => data.reduce((sum, value) => sum + value * value, 0));
  }

  // Where all cells of a marginal are alike: the coefficients of one of them (Marginals.coefficients).
  ofCells(asked) {
    const axes = asked.filter(axis => this.splits[axis].n > 1).sort((a, b) => a - b);
    const { eigenvalues, tables } = this.alike;
    if (patterns(axes.length).some(pattern => !eigenvalues.has(keyOf(chosen(axes, pattern))))) throw new Unsupported();
    const all = [];
    let [second, fourth, largest] = [0, 0, 0];
    for (const [table, weight] of tables) {
      const common = axes.filter(axis => table.includes(axis));
      const scale = weight / (this.size(axes) * this.size(table));
      const values = patterns(common.length).map(pattern => scale / eigenvalues.get(keyOf(chosen(common, pattern))));
      const outside = this.size(table.filter(axis => !common.includes(axis)));
      for (const apart of patterns(common.length)) {
        // Π over R of n − 1 where the cells agree and −1 where they do not.
        const value = patterns(common.length).reduce((sum, pattern, number) => sum + values[number] * product(
          common.map((axis, at) => (pattern[at] ? (apart[at] ? -1 : this.splits[axis].n - 1) : 1))), 0);
        const count = outside * product(common.map((axis, at) => (apart[at] ? this.splits[axis].n - 1 : 1)));
        all.push(value);
        second += value ** 2 * count;
        fourth += value ** 4 * count;
        largest = Math.max(largest, Math.abs(value));
      }
    }
    return [second, fourth, largest, spacingOf([0, ...all])];
  }
}

// Σ over the sets of a number for each, times what every piece's row has for its share of the set.
function combined(found, numbers) {
  let terms = numbers.map(number => Float64Array.of(number));
  let block = numbers.length;
  for (const rows of found) {
    const own = rows.length ? rows[0].length : 1;
    block /= own;
    terms = terms.map((term, set) => outer(term, rows.map(row => row[Math.floor(set / block) % own])));
  }
  return terms.reduce((sum, term) => sum.map((value, at) => value + term[at]));
}

// Of weighted marginals: the largest coefficient and the sum of fourth powers, exactly, for products of single attributes.
class NoiseShape {
  constructor(view, errors) {
    this.errors = errors;
    this.resolving = view.resolving.map(unpackedMatrix);
    this.seen = view.seen.map(unpacked);
    this.fourth = this.seen.map(line => line.reduce((sum, value) => sum + value ** 4, 0));
    this.fourths = bySet(view.fourths);
    this.largest = view.largest;
  }

  // (Σ over the tables that share exactly these of the asked attributes, a bound of the largest) of what they weigh.
  meeting(asked, shared) {
    const others = asked.filter(axis => !shared.includes(axis) && this.errors.splits[axis].n > 1);
    const base = this.fourths.get(keyOf(shared)) || 0;
    const total = patterns(others.length).reduce((sum, pattern) => {
      const more = chosen(others, pattern);
      return sum + (-1) ** more.length * (this.fourths.get(keyOf([...shared, ...more])) || 0);
    }, 0);
    const power = (this.largest ** 4 * (total > 1e-12 * base ? total : 0)) / product(shared.map(axis => this.fourth[axis]));
    return [power, power ** 0.25];
  }

  moments(pieces, second) {
    const axes = pieces.map(piece => piece.axes[0]);
    const levels = pieces.map((piece, at) => piece.rows.map((row, number) => row.reduce(
      (sum, cell, place) => sum + this.errors.splits[axes[at]].u[cell] * weightOf(piece, number, place), 0)));
    const resolved = pieces.map((piece, at) => piece.rows.map((row, number) => {
      const { starts, columns, values, width } = this.resolving[axes[at]];
      const out = new Float64Array(width);
      row.forEach((cell, place) => {
        const weight = weightOf(piece, number, place);
        for (let k = starts[cell]; k < starts[cell + 1]; k += 1) out[columns[k]] += weight * values[k];
      });
      return out;
    }));
    const total = levels.map((own, at) => own.map(level => this.seen[axes[at]].map(value => level * value)));
    const cases = patterns(axes.length).map(inside => ({ inside, weighed: this.meeting(axes, chosen(axes, inside)) }))
      .filter(({ weighed }) => weighed[0] > 0)
      .map(({ inside, weighed }) => ({ weighed, powers: this.powers(axes, inside, levels, resolved, total) }));
    return [...combinations(pieces)].map((rows, query) => {
      let [largest, fourth] = [0, 0];
      for (const { weighed: [power, peak], powers } of cases) {
        const [top, sum] = powers(rows);
        largest = Math.max(largest, peak * top);
        fourth += power * sum;
      }
      return [second[query], fourth, Math.min(largest, fourth ** 0.25), 0];
    });
  }

  // For the rows of a query: the largest |c| and Σc⁴ over the tables that share exactly these attributes, their weight
  // aside. Many queries have their rows but for the last in common, and most coefficients are equal.
  powers(axes, inside, levels, resolved, total) {
    const places = range(axes.length).filter(at => inside[at]);
    const apart = range(axes.length).filter(at => !inside[at]);
    const last = places.pop();
    const found = (rows, ends) => {
      let sum = null;
      for (const pattern of patterns(places.length)) {
        const own = [...chosen(places, pattern), ...ends].map(at => axes[at]);
        let term = Float64Array.of(this.errors.variances.get(keyOf(own)) || 0);
        places.forEach((at, number) => { term = outer(term, (pattern[number] ? resolved : total)[at][rows[at]]); });
        sum = sum ? sum.map((value, at) => value + term[at]) : term;
      }
      return sum;
    };
    const shared = remembered(rows => places.map(at => rows[at]).join(), rows => (
      last === undefined ? found(rows, [])[0] : counted(found(rows, []), found(rows, [last]))));
    const own = remembered(row => row, row => counted(total[last][row], resolved[last][row]));
    return rows => {
      const outside = Math.abs(product(apart.map(at => levels[at][rows[at]])));
      if (last === undefined) return [Math.abs(shared(rows)) * outside, (shared(rows) * outside) ** 4];
      // c = p·total + q·resolved along the last attribute, never written down.
      let [top, sum] = [0, 0];
      for (const [p, q, times] of shared(rows)) {
        for (const [a, b, more] of own(rows[last])) {
          const square = (p * a + q * b) ** 2;
          top = Math.max(top, square);
          sum += times * more * square * square;
        }
      }
      return [Math.sqrt(top) * outside, sum * outside ** 4];
    };
  }
}

function remembered(key, find) {
  const known = new Map();
  return asked => {
    const name = key(asked);
    if (!known.has(name)) known.set(name, find(asked));
    return known.get(name);
  };
}

// The different pairs of two lines, each with how often it is there.
function counted(a, b) {
  const pairs = new Map();
  for (let at = 0; at < a.length; at += 1) {
    const name = a[at] + ' ' + b[at];
    const pair = pairs.get(name);
    if (pair) pair[2] += 1; else pairs.set(name, [a[at], b[at], 1]);
  }
  return [...pairs.values()];
}
