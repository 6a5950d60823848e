// Tests on ordered bins: every comparison must fall on a bin edge, or it has no exact answer.
const DAY = 86400;

class Cuts {
  constructor(test, attribute) { Object.assign(this, { test, attribute, name: nameText(test.name) }); }

  fail(message) { throw new ConditionError(message, this.test.position); }

  cells() {
    const { comparison, values } = this.test;
    const { size } = this.attribute;
    const ends = values.map(value => this.read(value));
    const [first, second] = ends;
    const from = (start, stop) => range(size).map(cell => start <= cell && cell < stop);
    switch (comparison) {
      case '<': return from(0, this.below(first));
      case '<=': return from(0, this.upTo(first));
      case '>=': return from(this.below(first), size);
      case '>': return from(this.upTo(first), size);
      case 'between': {
        if (this.isAfter(first, second)) {
          this.fail('between needs its lower end first, got ' + values.map(valueText).join(' and '));
        }
        const [start, stop] = this.named(first, second) || [this.below(first), this.upTo(second)];
        return from(start, stop);
      }
      default: {
        const spans = ends.map(end => this.exactly(end));
        return range(size).map(cell => spans.some(([start, stop]) => start <= cell && cell < stop) !== (comparison === '!='));
      }
    }
  }

  isAfter(first, second) { return first > second; }

  named() { return null; }

  nearest(value) {
    const { edges } = this.attribute;
    let [low, high] = [0, edges.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (edges[middle] <= value) low = middle; else high = middle;
    }
    return Math.abs(edges[low] - value) <= Math.abs(edges[high] - value) ? low : high;
  }

  // The index of the edge at a number; beyond either end all bins are on one side.
  leftOf(value) {
    const { edges, size, slack } = this.attribute;
    if (value <= edges[0]) return 0;
    if (value >= edges[size]) return size;
    const at = this.nearest(value);
    if (Math.abs(edges[at] - value) > slack) {
      this.fail('this does not fall on a bin edge; the nearest edges are ' + this.around(value) + ': ask about one of them');
    }
    return at;
  }

  around(value) {
    const { edges, texts, size } = this.attribute;
    const at = this.nearest(value);
    const other = edges[at] < value ? at + 1 : at - 1;
    if (edges[at] === value || other < 0 || other > size) return texts[at];
    return [at, other].sort((a, b) => a - b).map(edge => texts[edge]).join(' and ');
  }
}

class NumberCuts extends Cuts {
  read(value) {
    if (['bool', 'str'].includes(value.type)) {
      this.fail(this.name + ' holds numbers, it cannot be compared with ' + (value.type === 'str' ? 'text' : 'a boolean'));
    }
    return value.value;
  }

  below(value) { return this.leftOf(this.attribute.integer ? Math.ceil(value) : value); }

  upTo(value) {
    const { edges, size, integer } = this.attribute;
    if (integer) return this.leftOf(Math.floor(value) + 1);
    if (value < edges[0]) return 0;
    if (value >= edges[size]) return size;
    return this.fail('this does not fall on a bin edge: bins hold their lower edge and not their upper one; compare with '
      + '< or >=, at ' + this.around(value));
  }

  exactly(value) {
    if (!this.attribute.integer) {
      this.fail(this.name + ' may hold any number, and a bin many of them, so this cannot be answered; compare with < or '
        + '>=, at ' + this.around(value));
    }
    if (value !== Math.floor(value)) this.fail(this.name + ' holds integers, it never equals ' + value);
    return [this.below(value), this.upTo(value)];
  }

  // `age between 18 and 64` where each bin has one whole number: from the bin of 18 to that of 64.
  named(low, high) {
    const { edges, size, integer } = this.attribute;
    const whole = this.test.values.every(value => value.type === 'int');
    if (integer || !whole || high >= edges[size]) return null;
    const last = this.nearest(high);
    return edges[last] === high && edges[last + 1] === high + 1 ? [this.below(low), this.below(high + 1)] : null;
  }
}

class DateCuts extends Cuts {
  read(value) {
    if (value.type !== 'str') this.fail(this.name + " holds dates; compare it with one such as '2024-03-01'");
    const period = readPeriod(value.value) || this.fail("expected a date such as '2024-03-01', a month '2024-03' or a time "
      + "'2024-03-01 14:00', got " + valueText(value));
    const [start, end] = period;
    if (this.attribute.times) return end - start === DAY ? [start, start] : period;
    if (end > start) return period;
    const day = Math.floor(start / DAY) * DAY;
    return day === start ? [day, day + DAY] : [day + DAY, day + DAY];
  }

  isAfter([start, end], [other, last]) { return start > other || (start === other && end > last); }

  below([start]) { return this.leftOf(start); }

  upTo([start, end]) {
    const { edges, size, times } = this.attribute;
    if (end > start || !times) return this.leftOf(end);
    if (start < edges[0]) return 0;
    if (start >= edges[size]) return size;
    return this.fail(this.name + ' holds times, and this would include a single instant of a cell; compare with < or >=, at '
      + this.around(start));
  }

  exactly(period) {
    if (period[0] === period[1]) this.fail('this asks for a single instant; compare with >= and <, at the edges of a cell');
    return [this.below(period), this.upTo(period)];
  }
}

// Seconds from the start to the end of a year, quarter, month, week or day; an instant ends where it starts.
function readPeriod(text) {
  const time = /^(\d{4})-(\d\d)-(\d\d)[ Tt](\d\d):(\d\d)(?::(\d\d)(\.\d{1,6})?)?$/.exec(text);
  const seconds = (year, month, day) => {
    const at = new Date(0);
    at.setUTCFullYear(year, month - 1, day);
    return at.getTime() / 1000;
  };
  const real = (year, month, day) => new Date(seconds(year, month, day) * 1000).getUTCDate() === day && month >= 1 && month <= 12;
  if (time) {
    const [year, month, day, hour, minute, second] = time.slice(1, 7).map(part => Number(part || 0));
    if (!real(year, month, day) || hour > 23 || minute > 59 || second > 59) return null;
    const at = seconds(year, month, day) + hour * 3600 + minute * 60 + second + Number(time[7] || 0);
    return [at, at];
  }
  const period = /^(\d{4})(?:-(?:(\d\d)(?:-(\d\d))?|Q([1-4])|W(\d\d)))?$/.exec(text);
  if (!period || Number(period[1]) < 1) return null;
  const [year, month, day, quarter, week] = period.slice(1).map(part => (part ? Number(part) : 0));
  if (week) {
    const first = new Date(seconds(year, 1, 4) * 1000);
    const monday = seconds(year, 1, 4) - ((first.getUTCDay() + 6) % 7) * DAY;
    const start = monday + (week - 1) * 7 * DAY;
    const inside = new Date((start + 3 * DAY) * 1000).getUTCFullYear() === year;
    return inside ? [start, start + 7 * DAY] : null;
  }
  if (period[5]) return null;
  if (day) return real(year, month, day) ? [seconds(year, month, day), seconds(year, month, day) + DAY] : null;
  const from = month || (quarter ? 3 * quarter - 2 : 1);
  if (from > 12 || (period[2] && !month) || period[3]) return null;
  const length = month ? 1 : 3;
  return [seconds(year, from, 1), seconds(year, from + (month || quarter ? length : 12), 1)];
}
