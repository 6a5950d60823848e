'use strict';
// What the parts of the script share: the page's elements, its state, and how it speaks to the server.
const element = id => document.getElementById(id);
const state = {
  revision: 0, figures: null, at: 0, saved: true, own: 0, targets: new Map(), solved: null,
  versions: { plan: 0, targets: 0, look: 0, release: 0 }, busy: false,
};

// Announced once, however often it is written.
function say(words) {
  if (element('said').textContent !== words) element('said').textContent = words;
}

function complain(words) {
  const box = element('problem');
  box.hidden = !words;
  box.textContent = words && words[0].toUpperCase() + words.slice(1) + (/[.?]$/.test(words) ? '' : '.');
  if (words) say(box.textContent);
}

function made(tag, words, properties = {}) {
  const node = Object.assign(document.createElement(tag), properties);
  node.textContent = words;
  return node;
}

async function send(path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    });
  } catch {
    complain('The studio does not answer; is rowspace studio still running?');
    return null;
  }
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  complain(found.detail || 'The studio refused this.');
  element('reload').hidden = answer.status !== 409;
  return null;
}
