// Means and spreads of measures: functions of released sums, as rowspace.releases.means and spreads make them.
const SPREADS = ['variance', 'standard deviation', 'sample variance', 'sample standard deviation'];
const COUNTS = { figure: 'count', measure: null };
const NO_FIGURES = { answer: NaN, error: NaN, low: NaN, high: NaN };
const clipped = (value, [low, high]) => Math.min(Math.max(value, low), high);

// From "mean of income" to what is asked of which measure.
function figureOf(domain, words) {
  if (!words) return COUNTS;
  const [figure, name] = [words.slice(0, words.indexOf(' of ')), words.slice(words.indexOf(' of ') + 4)];
  const measure = domain.measures.get(name);
  if (!measure) throw new ConditionError(quoted(name) + ' is no measure of this release; known: ' + known([...domain.measures.keys()].map(quoted)));
  if (SPREADS.includes(figure) && !measure.squares) {
    throw new ConditionError('the ' + figure + ' of ' + quoted(name) + ' needs a measure that was declared with its squares');
  }
  if (!['sum', 'mean', 'records', ...SPREADS].includes(figure)) throw new ConditionError(quoted(figure) + ' of a measure is not known');
  return { figure, measure };
}

// How many standard errors intervals reach, at most.
function reached(...tables) {
  return tables.flatMap(rows => {
    const least = 1e-6 * rows.reduce((most, row) => Math.max(most, row.error), 0);
    return rows.filter(row => row.error > least).map(row => (row.high - row.low) / 2 / row.error);
  }).reduce((a, b) => Math.max(a, b), 0);
}

// Sums over numbers of records: the delta method, or Fieller's where the number is near zero; none where it may be zero.
function meansOf(release, asking, measure) {
  const pieces = asking(measure.values);
  const largest = Math.max(...measure.bounds.map(Math.abs));
  const sums = release.linear(pieces, measure);
  const records = release.linear(asking(measure.values.map(() => 1)), measure);
  const third = release.linear(asking(measure.values.map(value => value - largest)), measure);
  const normal = release.contents.normal ? reached(sums, records) : 0;
  const figures = [...combinations(pieces)].map((rows, query) => {
    const [a, b] = [sums[query].answer, records[query].answer];
    const [sigmaA, sigmaB] = [sums[query].error, records[query].error];
    const reach = (records[query].high - records[query].low) / 2;
    if (!(b > reach)) return NO_FIGURES;
    const r = a / b;
    const covariance = (sigmaA ** 2 + largest ** 2 * sigmaB ** 2 - third[query].error ** 2) / (2 * largest);
    let sigma = Math.sqrt(Math.max(sigmaA ** 2 - 2 * r * covariance + r ** 2 * sigmaB ** 2, 0));
    let half = sigma * normal;
    if (!release.contents.normal) {
      const [rest] = release.linear([jointly(pieces, rows, release.counted, measure.values.map(value => value - r))], measure);
      [sigma, half] = [rest.error, (rest.high - rest.low) / 2];
    }
    let [low, high] = [r - half / b, r + half / b];
    if (!(b >= release.contents.steady * sigmaB || sigma === 0)) {
      const z = Math.max(half / (sigma > 0 ? sigma : 1), reach / (sigmaB > 0 ? sigmaB : 1));
      const leading = b ** 2 - z ** 2 * sigmaB ** 2;
      const middle = a * b - z ** 2 * covariance;
      const root = Math.sqrt(Math.max(0, middle ** 2 - leading * (a ** 2 - z ** 2 * sigmaA ** 2)));
      [low, high] = leading > 0 ? [(middle - root) / leading, (middle + root) / leading] : [-Infinity, Infinity];
    }
    return { answer: r, error: sigma / b, low: clipped(low, measure.bounds), high: clipped(high, measure.bounds) };
  });
  return { pieces, figures };
}

// Sums of squares, sums and numbers of records over the cells of a measure with squares.
const SPREAD_ROWS = [[1, 0, 0, 1], [-1, -0.5, 0.5, 1], [1, 1, 1, 1]];
const SPREAD_PAIRS = [[0, 1], [0, 2], [1, 2]];
const MEANS_TRIED = 129;

const dot = (matrix, left, right) => left.reduce((sum, x, i) => sum + x * right.reduce((own, y, j) => own + matrix[i][j] * y, 0), 0);
const cross = ([a, b, c], [x, y, z]) => [b * z - c * y, c * x - a * z, a * y - b * x];
const adjugate = ([p, q, r]) => {
  const columns = [cross(q, r), cross(r, p), cross(p, q)];
  return range(3).map(i => range(3).map(j => columns[j][i]));
};

// All variances that some mean makes compatible with three answers (rowspace.releases.means).
function spreadsOf(release, asking, measure, figure) {
  const sample = Number(figure.startsWith('sample'));
  const six = [...SPREAD_ROWS, ...SPREAD_PAIRS.map(([i, j]) => SPREAD_ROWS[i].map((value, at) => value + SPREAD_ROWS[j][at]))];
  const asked = release.linear(asking(...six), measure);
  const z = reached(asked);
  const pieces = asking(measure.values);
  const figures = [...combinations(pieces)].map((_, group) => {
    const own = asked.slice(group * six.length, (group + 1) * six.length);
    const sigma = range(3).map(i => range(3).map(j => (i === j ? own[i].error ** 2 : 0)));
    SPREAD_PAIRS.forEach(([i, j], at) => { sigma[i][j] = sigma[j][i] = (own[3 + at].error ** 2 - sigma[i][i] - sigma[j][j]) / 2; });
    if (!(own[2].answer - sample > z * Math.sqrt(sigma[2][2]))) return NO_FIGURES;
    let found = varianceOf(own.slice(0, 3).map(row => row.answer), sigma, z, sample);
    found = { ...found, ...Object.fromEntries(['answer', 'low', 'high'].map(name => [name, clipped(found[name], [0, sample ? 2 : 1])])) };
    const root = figure.endsWith('deviation');
    if (root) {
      const error = found.error / (2 * Math.sqrt(Math.max(found.answer, found.error)));
      found = { error, answer: Math.sqrt(found.answer), low: Math.sqrt(found.low), high: Math.sqrt(found.high) };
    }
    const unit = measure.reach ** (root ? 1 : 2);
    return { answer: unit * found.answer, error: unit * found.error, low: unit * found.low, high: unit * found.high };
  });
  return { pieces, figures };
}

function varianceOf([squares, sums, records], sigma, z, less) {
  const mean = sums / records;
  const answer = (squares - sums * mean) / (records - less);
  const slope = [1, -2 * mean, mean ** 2 - answer];
  const error = Math.sqrt(Math.max(dot(sigma, slope, slope), 0)) / (records - less);
  if (!(error > 0)) return { answer, error, low: answer, high: answer };
  const away = [0, 1, -mean];
  const errorOfMean = Math.sqrt(Math.max(dot(sigma, away, away), 0)) / records;
  const wider = Math.max(1 - (z ** 2 * sigma[2][2]) / records ** 2, 1e-3);
  const reach = Math.min((4 * z * errorOfMean) / wider, 2);
  const less2 = adjugate(sigma).map(row => row.map(value => z ** 2 * value));
  let [low, high] = [0, 0];
  for (let at = 0; at < MEANS_TRIED; at += 1) {
    const m = mean + (-1 + (2 * at) / (MEANS_TRIED - 1)) * reach;
    const [left, right] = endsAround(mean, answer, records, sigma, less2, m, less);
    [low, high] = [Math.min(low, left), Math.max(high, right)];
  }
  return { answer, error, low: answer + low, high: answer + high };
}

// How far below and above the answer variances are compatible with it, given another mean.
function endsAround(mean, answer, records, sigma, less2, m, less) {
  const off = records * (m - mean);
  const n = [-off, off * (m + mean), off * (answer - m * mean)];
  const more = [0, records - less, less * m - records * mean];
  const [d, dMore] = [[m ** 2 + answer, m, 1], [1, 0, 0]];
  const a = dot(sigma, more, more) - dot(less2, dMore, dMore);
  const b = dot(sigma, n, more) - dot(less2, d, dMore);
  const c = dot(sigma, n, n) - dot(less2, d, d);
  if (!(a > 0)) return [-Infinity, Infinity];
  const inside = b ** 2 - a * c;
  const root = Math.sqrt(Math.max(inside, 0));
  return inside >= 0 ? [(-b - root) / a, (-b + root) / a] : [0, 0];
}
