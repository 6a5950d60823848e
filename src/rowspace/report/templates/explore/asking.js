// Questions to a release: the same numbers as Release.ask, from the same noisy answers.
class Release {
  constructor(contents) {
    this.level = contents.level;
    this.contents = contents;
    this.domain = new Domain(contents.attributes);
    const { attributes } = this.domain;
    this.noise = new Noise(contents.noise);
    this.counted = attributes.map(attribute => attribute.counted);
    this.estimate = estimateOf(contents.estimate, this.counted);
    this.keeps = ['open', 'corrected'].includes(contents.errors.own.kind);
    const { own, beside } = contents.errors;
    this.beside = beside;
    this.inner = attributes.map((attribute, axis) => (beside && !beside.places[axis] ? attribute.size : attribute.counted));
    this.errors = errorsOf(own, this.inner);
    const within = beside && beside.within;
    this.whole = within ? new CellErrors(within, this.inner) : this.errors;
  }

  get names() { return [...this.domain.names.keys()]; }

  axis(name) {
    const { attribute, level } = this.domain.find(name);
    return { name, labels: level ? level.labels : attribute.labels, missing: (level || attribute).missing, ordered: !level && attribute.kind !== 'category' };
  }

  // by: attributes or levels. where: a condition, nothing, or a whole statement in SQL. of: what of a measure, if any.
  // Answers: one row for every group, in the order of `by`.
  ask(by, where, of = '') {
    const asked = isStatement(where) ? readStatement(this.domain, where) : { by, where, words: where, of: figureOf(this.domain, of) };
    const axes = asked.by.map(name => this.axis(name));
    const { pieces, figures } = this.figures(asked);
    const rows = [...combinations(pieces)].map((own, query) => {
      const codes = [];
      pieces.forEach((piece, number) => piece.keys.forEach((key, at) => { codes[key] = piece.codes[own[number]][at]; }));
      return { codes, ...figures[query] };
    });
    rows.sort((a, b) => a.codes.reduce((found, code, at) => found || code - b.codes[at], 0));
    const labels = row => row.codes.map((code, at) => axes[at].labels[code] ?? axes[at].missing);
    return { axes, rows: rows.map(row => ({ ...row, labels: labels(row) })), words: asked.words, of: asked.of };
  }

  // The pieces of a question, and the figures of every query.
  figures({ by, where, of }) {
    const { figure, measure } = of;
    const asking = (...weights) => piecesOf(this.domain, by, where, weights.length ? [ofMeasure(measure, ...weights)] : []);
    if (figure === 'mean') return meansOf(this, asking, measure);
    if (SPREADS.includes(figure)) return spreadsOf(this, asking, measure, figure);
    const pieces = figure === 'sum' ? asking(measure.values) : figure === 'records' ? asking(measure.values.map(() => 1)) : asking();
    return { pieces, figures: this.linear(pieces, measure) };
  }

  // Answers to linear queries, each with its interval. Ends are rounded by what a record can add to an answer.
  linear(pieces, measure = null) {
    const answers = this.estimate.answers(pieces);
    const largest = this.contents.largest * (measure ? Math.max(1, ...measure.bounds.map(Math.abs)) : 1);
    return this.moments(pieces).map((own, query) => this.noise.figures(this.kept(answers[query], own), own, largest, this.contents.bits));
  }

  // Answers that facts determine are whole to the last digit.
  kept(answer, [second]) {
    const whole = rounded(answer);
    return this.keeps && second === 0 && Math.abs(answer - whole) <= 1e-9 * Math.max(1e3, Math.abs(answer)) ? whole : answer;
  }

  moments(pieces) {
    if (!this.beside) return this.errors.moments(pieces);
    const unseen = this.domain.attributes.every(({ axis, size, counted }) => (
      this.inner[axis] === counted || pieces.some(piece => isBlind(piece, axis, size))));
    const inside = piece => narrowed(piece, piece.axes.map(axis => this.inner[axis]));
    return unseen ? this.errors.moments(pieces.map(inside)) : this.besideMoments(pieces);
  }

  // Queries that see cells measured one by one beside a strategy: coefficient by coefficient.
  besideMoments(pieces) {
    const steps = strides(this.counted);
    const box = new Set(cellsAlong(this.counted.map((size, axis) => Math.min(size, this.inner[axis])), range(steps.length), steps));
    const inner = Int32Array.from(box);
    const outside = range(product(this.counted)).filter(cell => !box.has(cell));
    return [...combinations(pieces)].map(rows => {
      const query = tableOf(pieces, rows, this.counted, 0);
      const within = this.whole.coefficients(Float64Array.from(inner, cell => query[cell]));
      const others = outside.map(cell => query[cell] / this.beside.weight);
      return momentsOf(Float64Array.from([...within, ...others]), this.beside.fine);
    });
  }
}

// Only the tables that were measured, answered in advance.
class MeasuredTables {
  constructor(contents) {
    this.level = contents.level;
    this.tables = contents.tables;
  }

  get names() { return [...new Set(this.tables.flatMap(table => table.by.map(by => by.name)))]; }

  find(by) {
    return this.tables.find(table => table.by.length === by.length && table.by.every(own => by.includes(own.name)));
  }

  ask(by, where, of = '') {
    if (where || of) throw new ConditionError('this page holds measured tables of counts only, and no conditions');
    const table = this.find(by);
    if (!table) throw new ConditionError('this table was not measured, or is too large for this page');
    const order = by.map(name => table.by.findIndex(own => own.name === name));
    const axes = order.map(at => ({ name: table.by[at].name, labels: table.by[at].labels, ordered: false }));
    const [answer, error, low, high] = [table.answer, table.error, table.low, table.high].map(unpacked);
    const steps = strides(table.by.map(own => own.labels.length));
    const shape = axes.map(axis => axis.labels.length);
    const own = strides(shape);
    const rows = range(product(shape)).map(number => {
      const codes = shape.map((size, at) => Math.floor(number / own[at]) % size);
      const cell = codes.reduce((sum, code, at) => sum + code * steps[order[at]], 0);
      return { codes, labels: codes.map((code, at) => axes[at].labels[code]), answer: answer[cell], error: error[cell], low: low[cell], high: high[cell] };
    });
    return { axes, rows, words: '', of: COUNTS };
  }
}

const released = contents => (contents.kind === 'asked' ? new Release(contents) : new MeasuredTables(contents));
