// Cutting the text of a condition into tokens, as rowspace.workload.predicate.tokens does.
const KEYWORDS = new Set(['and', 'or', 'not', 'in', 'between', 'is']);
const SAME = { '==': '=', '<>': '!=', '≤': '<=', '≥': '>=', '≠': '!=' };
const MIRRORED = { '=': '=', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
const PARTS = ['year', 'quarter', 'month', 'week', 'day', 'dow', 'isodow', 'doy', 'hour', 'minute'];
const LONGEST = 10000;
const DEEPEST = 50;
const TOKENS = [
  ['space', /\s+/y],
  ['number', /[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y],
  ['text', /'(?:[^']|'')*'|"(?:[^"]|"")*"/y],
  ['quoted', /`(?:[^`]|``)+`/y],
  ['word', /[\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_]*/uy],
  ['symbol', /<=|>=|!=|<>|==|[=<>(),≤≥≠+-]/y],
];

class ConditionError extends Error {
  constructor(message, position = null) { super(message); this.position = position; }
}

const quoted = text => "'" + text + "'";
const nameText = name => (/^[\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_]*$/u.test(name) && !KEYWORDS.has(name.toLowerCase())
  && !['true', 'false'].includes(name.toLowerCase()) ? name : '`' + name.replaceAll('`', '``') + '`');
const valueText = value => (value.type === 'str' ? "'" + value.value.replaceAll("'", "''") + "'" : String(value.value));

// sql: whether a text in double quotes is a name, and a statement goes around the condition.
function tokenized(text, names, sql = false) {
  const tokens = [];
  let at = 0;
  while (at < text.length) {
    const match = (sql ? [...TOKENS, ['symbol', /[*;]/y]] : TOKENS).map(([group, pattern]) => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      return found && [group, found[0]];
    }).find(Boolean);
    if (!match) throw new ConditionError(explained(String.fromCodePoint(text.codePointAt(at))), at);
    if (match[0] !== 'space') tokens.push(token(text, match[0], match[1], at, names, sql));
    at += match[1].length;
  }
  tokens.push({ kind: 'end', text: '', position: text.length });
  return tokens;
}

function token(text, group, found, position, names, sql) {
  if (group === 'number') return { kind: 'value', text: found, position, value: numberOf(text, found, position) };
  if (group === 'text') {
    const inner = found.slice(1, -1).replaceAll(found[0] + found[0], found[0]);
    if (found[0] === '"' && (sql || names.has(inner))) return { kind: 'name', text: inner, position, quoted: true };
    return { kind: 'value', text: found, position, value: { type: 'str', value: inner } };
  }
  if (group === 'quoted') return { kind: 'name', text: found.slice(1, -1).replaceAll('``', '`'), position, quoted: true };
  if (group === 'symbol') return { kind: 'symbol', text: SAME[found] || found, position };
  const lower = found.toLowerCase();
  if (lower === 'true' || lower === 'false') {
    return { kind: 'value', text: found, position, value: { type: 'bool', value: lower === 'true' } };
  }
  return KEYWORDS.has(lower) ? { kind: 'keyword', text: lower, position } : { kind: 'name', text: found, position };
}

function numberOf(text, found, position) {
  if (found.length > 40) throw new ConditionError('a number has at most 40 characters', position);
  if (/^[\p{L}\p{N}_.]/u.test(text.slice(position + found.length))) {
    throw new ConditionError('a number must be followed by a space or a symbol', position + found.length);
  }
  if (!Number.isFinite(Number(found))) throw new ConditionError('this number is too large', position);
  return { type: /^[+-]?[0-9]+$/.test(found) ? 'int' : 'float', value: Number(found) };
}

function explained(character) {
  if (character === "'" || character === '"') {
    return 'this quote ' + character + ' is never closed; to write it inside a text, double it';
  }
  if (character === '`') return 'this backtick is never closed; backticks go around names';
  if ('&|!'.includes(character)) return 'unexpected ' + quoted(character) + '; write and, or, not';
  return 'unexpected character ' + quoted(character);
}

const described = found => (found.kind === 'end' ? 'the end' : quoted(found.text));
