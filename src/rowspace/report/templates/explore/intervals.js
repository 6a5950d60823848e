// From moments to intervals, as rowspace.error.intervals and rowspace.releases.answer_columns find them.
class Noise {
  constructor(view) {
    Object.assign(this, view);
    this.grid = view.grid && unpacked(view.grid);
    this.steps = view.steps && unpacked(view.steps);
  }

  // Half-width in standard errors, interpolated between points of a grid.
  quantile([second, fourth, largest]) {
    if (!this.grid) return this.normal;
    if (second <= 0) return this.floor;
    const clip = (value, most) => Math.min(Math.max(value, 0), most);
    const share = clip(largest ** 2 / second, 1);
    const rest = Math.max(second - largest ** 2, 1e-9 * second);
    const restFourth = Math.max((fourth - largest ** 4) / rest ** 2, 0);
    const most = Math.min(1, share / Math.max(1 - share, 1e-12));
    const place = (value, points) => {
      const at = (Number.isNaN(value) ? 1 : value) * (points - 1);
      const low = Math.min(Math.floor(at), points - 2);
      return [low, at - low];
    };
    const [i, a] = place(share, this.shares);
    const [j, b] = place(clip(restFourth / Math.max(most, 1e-12), 1), this.relatives);
    const at = (row, column) => this.grid[row * this.relatives + column];
    return Math.max(this.floor, (1 - a) * ((1 - b) * at(i, j) + b * at(i, j + 1)) + a * ((1 - b) * at(i + 1, j) + b * at(i + 1, j + 1)));
  }

  halfWidth(parts) {
    const [second, fourth, largest] = parts;
    const g = parts[3] * this.spacing;
    const std = Math.sqrt(second * this.variance);
    const coarse = g > 0 && std < 1000 * g;
    let found;
    if (this.rare) {
      const width = this.surelyWithin(parts);
      found = coarse ? (Math.ceil(width / g) - 1) * g : width;
    } else {
      const width = std * this.quantile(parts) + Math.max(largest * this.step - g, 0) / 2;
      found = coarse ? Math.ceil(width / g - 0.5) * g : width;
    }
    const terms = rounded(second / (g > 0 ? g : 1) ** 2);
    const equal = g > 0 && Math.abs(largest - g) <= 1e-9 * g && Math.abs(fourth - terms * g ** 4) <= 1e-6 * g ** 4;
    if (this.steps && equal && terms > 0 && terms <= this.steps.length) found = this.steps[terms - 1] * g;
    return Math.max(found, 0);
  }

  // An x for which P(|S| ≥ x) is proved to be small enough: by the second moment, or by the exponential one.
  surelyWithin([second, , largest]) {
    if (this.variance === 0) return 0;
    const missing = 1 - this.level;
    const top = (largest > 0 ? largest : 1) * this.step;
    const terms = (second * this.step ** 2) / top ** 2;
    let least = Infinity;
    for (let k = 0; k < 19; k += 1) {
      const u = 0.05 + 0.05 * k;
      least = Math.min(least, (Math.log(2 / missing) - terms * Math.log1p(-u)) / Math.acosh(1 + (u * this.step ** 2) / this.variance));
    }
    return Math.min(Math.sqrt((this.variance * second) / missing), top * least);
  }

  figures(answer, parts, largestCount, bits) {
    const half = this.halfWidth(parts);
    const size = Math.max(Math.abs(answer), largestCount);
    const unit = 2 ** (exponent(size) - bits);
    return {
      answer,
      error: Math.sqrt(this.variance * parts[0]),
      low: Math.floor((answer - half) / unit) * unit + 0,
      high: Math.ceil((answer + half) / unit) * unit + 0,
    };
  }
}

// The e with 2^(e−1) ≤ size < 2^e.
function exponent(size) {
  let found = Math.floor(Math.log2(size)) + 1;
  if (2 ** found <= size) found += 1;
  if (2 ** (found - 1) > size) found -= 1;
  return found;
}
