// Hides the answers that a reader is not looking for. Without it all are there.
'use strict';
const box = document.getElementById('find');
const said = document.getElementById('found');
const groups = [...document.querySelectorAll('#table details')];
const wasOpen = groups.map(group => group.open);
function look() {
  const words = box.value.toLowerCase().split(/ +/).filter(Boolean);
  let found = 0;
  groups.forEach((group, index) => {
    let here = 0;
    const name = group.querySelector('summary').firstChild.textContent.toLowerCase() + ' ';
    for (const row of group.querySelectorAll('tbody tr')) {
      const text = name + row.textContent.toLowerCase();
      const wanted = words.every(word => text.includes(word));
      row.hidden = !wanted;
      if (wanted) here += 1;
    }
    group.hidden = here === 0;
    group.open = words.length ? here > 0 : wasOpen[index];
    found += here;
  });
  const missing = said.dataset.missing ? ' on this page. ' + said.dataset.missing : '';
  said.textContent = words.length ? found + ' found' + missing : '';
}
if (box) { box.closest('.find').hidden = false; box.addEventListener('input', look); }
