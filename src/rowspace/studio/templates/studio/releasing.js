// A release: its price first, in a dialog; then one confirmed step, whose key makes sure that it is paid for once.
let offered = null;

async function askPrice() {
  complain('');
  offered = await send('/price', {});
  if (!offered) return;
  element('confirm-promise').textContent = offered.promise;
  element('confirm-charge').textContent = offered.paid ? 'nothing: this study was paid for before' : `${offered.charge}, to ${offered.dataset}`;
  element('confirm-left').textContent = offered.left;
  element('confirm-after').textContent = offered.after;
  element('confirmed').textContent = offered.paid ? 'Have the answers again' : `Spend ${offered.charge} and release`;
  element('confirmed').disabled = false;
  element('confirm').showModal();
}

async function confirmRelease() {
  if (element('confirmed').disabled) return;
  element('confirmed').disabled = true;
  const begun = await send('/release', { revision: state.revision, key: offered.key });
  element('confirm').close();
  if (begun) follow();
}

function takeReleased(released) {
  const words = element('released');
  words.hidden = false;
  words.textContent = `Released: ${released.files.join(', ')} are beside the study. `;
  words.append(made('a', 'Open the report', { href: '/report', target: '_blank', rel: 'noopener' }));
  say(words.textContent);
}

function listenToReleases() {
  if (!element('price')) return;
  element('price').addEventListener('click', askPrice);
  element('confirmed').addEventListener('click', confirmRelease);
  element('not-now').addEventListener('click', () => element('confirm').close());
}
