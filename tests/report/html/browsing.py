"""Chromium, without a window: what a page looks like, and what lies where in it at several widths."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--hide-scrollbars", "--disable-component-update", "--disable-sync"]

# Runs in a page of its own around the page that is looked at, whose policy lets nothing else run inside.
_LOOK = """
const box = element => element.getBoundingClientRect();
const visible = element => box(element).width > 0 && box(element).height > 0;
const clash = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
function overlapping(axis) {
  const marks = [...axis.querySelectorAll('span')].filter(visible);
  return marks.flatMap((a, at) => marks.slice(at + 1).filter(b => clash(box(a), box(b)))
    .map(b => a.textContent + ' | ' + b.textContent));
}
function looked(frame) {
  const page = frame.contentDocument, root = page.documentElement;
  page.querySelectorAll('details').forEach(group => { group.open = true; });
  const all = [...page.body.querySelectorAll('*')].filter(visible);
  const free = all.filter(e => !e.closest('.hidden, .skip, nav, .scroll, svg'));
  const inside = e => e.closest('figure, .card, .tiles div, details') || root;
  return {
    width: root.clientWidth,
    scroll: root.scrollWidth,
    outside: free.filter(e => box(e).right > box(inside(e)).right + 1 || box(e).left < box(inside(e)).left - 1)
      .map(e => e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40)),
    cut: free.filter(e => e.scrollWidth > e.clientWidth + 1 && page.defaultView.getComputedStyle(e).overflowX
      === 'hidden').map(e => e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40)),
    overlaps: [...page.querySelectorAll('.up, .across')].flatMap(overlapping),
    buried: [...page.querySelectorAll('.heat')].filter(t => visible(t) &&
      box(t.querySelector('td')).right > box(t.closest('.scroll')).right + 1).length,
    searched: search(page),
  };
}
function search(page) {
  const field = page.getElementById('find');
  if (!field) return null;
  field.value = WANTED;
  field.dispatchEvent(new page.defaultView.Event('input'));
  const rows = [...page.querySelectorAll('#table tbody tr')]
    .filter(row => !row.hidden && !row.closest('details').hidden);
  return [page.getElementById('found').textContent, rows.length];
}
addEventListener('load', () => {
  const found = [...document.querySelectorAll('iframe')].map(looked);
  document.getElementById('found').textContent = JSON.stringify(found);
});
"""


def browse(page: Path, *flags: str) -> bytes:
    """What Chromium says on opening a page."""
    assert CHROMIUM is not None
    profile = page.with_name("profile")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    shutil.rmtree(profile, ignore_errors=True)
    return done.stdout


def looked_at(page: Path, widths: list[int], wanted: str = "") -> list[dict[str, Any]]:
    """What lies where at each width; `wanted` is typed into the search box."""
    source = html.escape(page.read_text())
    frames = "".join(
        f'<iframe srcdoc="{source}" style="border:0;width:{width}px;height:2000px"></iframe>'
        for width in widths
    )
    script = _LOOK.replace("WANTED", json.dumps(wanted))
    outer = page.with_name("outer.html")
    outer.write_text(f'<meta charset="utf-8"><pre id="found"></pre><script>{script}</script>{frames}')
    dump = browse(outer, "--dump-dom", "--virtual-time-budget=10000", "--window-size=2400,2000").decode()
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', dump, re.DOTALL)
    return json.loads(html.unescape(found))
