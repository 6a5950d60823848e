"""The style sheet: one column, cards of charts, light or dark by the reader's choice, fit for paper and for phones."""

from __future__ import annotations

from .palette import DARK, LIGHT, variables

SHEET = f"""
:root {{ color-scheme: light dark; {variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
html {{ scroll-behavior: smooth; scroll-padding-top: 4rem; -webkit-text-size-adjust: 100%; }}
@media (prefers-reduced-motion: reduce) {{ html {{ scroll-behavior: auto; }} }}
body {{ margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system,
  "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }}
a {{ color: var(--accent); }}
:focus-visible {{ outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }}
.skip {{ position: absolute; left: -999rem; }}
.skip:focus {{ left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem; z-index: 9; }}
.hidden {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }}
header, main, footer {{ max-width: 70rem; margin: 0 auto; padding: 0 1.5rem; }}
header {{ padding-top: 3.5rem; }}
.kicker {{ margin: 0; color: var(--accent); font-weight: 600; letter-spacing: .06em; text-transform: uppercase;
  font-size: .8rem; }}
h1 {{ font-size: clamp(1.9rem, 5vw, 3rem); line-height: 1.1; margin: .35rem 0 .75rem; letter-spacing: -.02em;
  overflow-wrap: anywhere; }}
h2 {{ font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; letter-spacing: -.01em; }}
h3 {{ font-size: 1.02rem; line-height: 1.35; margin: 0; overflow-wrap: anywhere; }}
p {{ margin: .5rem 0; max-width: 46rem; }}
p, dd, dt, summary {{ overflow-wrap: anywhere; }}
.lead {{ font-size: 1.15rem; color: var(--muted); max-width: 46rem; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1rem; margin: 1.75rem 0 1rem;
  padding: 0; }}
.tiles div {{ background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.1rem;
  display: flex; flex-direction: column; min-width: 0; }}
.tiles dt {{ color: var(--muted); font-size: .85rem; }}
.tiles dd {{ margin: .1rem 0 0; font-size: 1.55rem; font-weight: 650; letter-spacing: -.01em; line-height: 1.25; }}
.tiles dd small {{ display: block; font-size: .85rem; font-weight: 400; color: var(--muted); letter-spacing: 0;
  margin-top: .2rem; line-height: 1.4; }}
nav {{ position: sticky; top: 0; z-index: 5; background: var(--page); border-bottom: 1px solid var(--line); }}
nav ul {{ list-style: none; display: flex; gap: 1.4rem; margin: 0 auto; padding: .7rem 1.5rem; max-width: 70rem;
  overflow-x: auto; white-space: nowrap; }}
nav a {{ text-decoration: none; font-size: .92rem; font-weight: 550; }}
nav a:hover {{ text-decoration: underline; }}
section {{ margin: 3rem 0; }}
.note {{ color: var(--muted); font-size: .92rem; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.25rem;
  margin: 1.25rem 0; align-items: start; }}
.masonry {{ columns: 26rem 2; column-gap: 1.25rem; }}
.masonry .card {{ break-inside: avoid; margin-bottom: 1.25rem; }}
.card {{ background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.25rem;
  margin: 0; min-width: 0; }}
.card.wide {{ grid-column: 1 / -1; }}
.card > p:first-child, .cards > div > p:first-child {{ margin-top: 0; }}
.card > p:last-child, .card .note:last-child {{ margin-bottom: 0; }}
figcaption {{ margin-bottom: 1rem; }}
figcaption p {{ margin: .1rem 0 0; color: var(--muted); font-size: .86rem; line-height: 1.45; max-width: none; }}
.plot {{ display: grid; grid-template-columns: auto 1fr; grid-template-rows: 14rem auto auto; }}
.wide .plot {{ grid-template-rows: 17rem auto auto; }}
.plot .area {{ width: 100%; height: 100%; display: block; overflow: visible; }}
.up, .across {{ position: relative; font-size: .76rem; line-height: 1; color: var(--muted); white-space: nowrap; }}
.up span, .across span {{ position: absolute; }}
.room {{ visibility: hidden; font-weight: inherit; display: grid; }}
.room i {{ grid-area: 1 / 1; font-style: normal; }}
.up {{ padding-right: .5rem; }} .up span {{ right: .5rem; transform: translateY(50%); }}
.across {{ grid-column: 2; min-height: 1.35rem; padding-top: .45rem; }}
.across span {{ top: .45rem; transform: translateX(-50%); }} .across .last {{ transform: translateX(-85%); }}
.upright span, .upright .room {{ writing-mode: vertical-rl; }}
.upright span, .upright .last {{ transform: translateX(-50%) rotate(180deg); }}
.axis-title {{ grid-column: 2; text-align: center; font-size: .8rem; color: var(--muted); padding-top: .1rem; }}
svg line, svg polyline, svg polygon {{ vector-effect: non-scaling-stroke; }}
.grid {{ stroke: var(--line); stroke-width: 1px; }}
.zero {{ stroke: var(--muted); stroke-width: 1px; }}
.bar {{ fill: var(--bar); }}
.interval {{ stroke: var(--mark); stroke-width: 1.25px; }}
.interval.strong {{ stroke-width: 2.5px; stroke-linecap: round; }}
.reference {{ stroke: var(--series2); stroke-width: 2px; stroke-dasharray: 5 4; }}
.target {{ fill: transparent; }}
g:hover > .bar {{ fill: var(--accent); }}
.band {{ stroke: none; fill-opacity: .22; }}
.curve {{ fill: none; stroke-width: 2px; stroke-linejoin: round; }}
.series1 {{ stroke: var(--series1); }} .band.series1, i.series1 {{ fill: var(--series1); background: var(--series1); }}
.series2 {{ stroke: var(--series2); }} .band.series2, i.series2 {{ fill: var(--series2); background: var(--series2); }}
.series3 {{ stroke: var(--series3); }} .band.series3, i.series3 {{ fill: var(--series3); background: var(--series3); }}
.series4 {{ stroke: var(--series4); }} .band.series4, i.series4 {{ fill: var(--series4); background: var(--series4); }}
.band.series1, .band.series2, .band.series3, .band.series4 {{ stroke: none; }}
.curve.series2 {{ stroke-dasharray: 7 3; }} .curve.series3 {{ stroke-dasharray: 2 3; }}
.curve.series4 {{ stroke-dasharray: 8 3 2 3; }}
.key {{ display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; align-items: center; margin: 0 0 .6rem; font-size: .86rem;
  color: var(--muted); }}
.key span {{ display: inline-flex; align-items: center; overflow-wrap: anywhere; min-width: 0; }}
.key i {{ flex: none; }}
.swatch {{ display: inline-block; width: 1.3rem; height: .5rem; border-radius: 2px; margin-right: .45rem; }}
.reference-key {{ display: inline-block; width: 1.5rem; border-top: 2px dashed var(--series2); margin-right: .45rem; }}
.ramp {{ display: inline-block; width: min(8rem, 30vw); height: .7rem; border-radius: 3px;
  border: 1px solid var(--line);
  background: linear-gradient(to right, var(--surface), var(--series1)); }}
.map rect {{ fill: var(--series1); }}
.map {{ background: var(--surface); outline: 1px solid var(--line); }}
.rows {{ display: grid; grid-template-columns: minmax(4rem, max-content) 1fr max-content; column-gap: .7rem; }}
.rows > * {{ min-height: 1.7rem; align-self: center; }}
.rows svg {{ width: 100%; height: 1.7rem; display: block; }}
.row-label, .row-figure {{ font-size: .86rem; line-height: 1.3; display: flex; align-items: center; }}
.row-label {{ max-width: 17rem; overflow-wrap: anywhere; }}
.row-figure {{ color: var(--muted); justify-content: flex-end; white-space: nowrap; }}
.scroll {{ overflow-x: auto; }}
.tall .scroll {{ max-height: 36rem; overflow-y: auto; }}
table {{ border-collapse: collapse; width: 100%; font-size: .9rem; }}
caption {{ text-align: left; color: var(--muted); font-size: .86rem; padding: .2rem 0 .5rem; }}
th, td {{ text-align: right; padding: .38rem .7rem; border-bottom: 1px solid var(--line); vertical-align: baseline; }}
th:first-child, td:first-child {{ text-align: left; padding-left: 0; overflow-wrap: anywhere; min-width: 8rem; }}
td:last-child, th:last-child {{ padding-right: 0; }}
thead th {{ color: var(--muted); font-weight: 600; font-size: .84rem; white-space: nowrap; }}
tbody th {{ font-weight: 500; }}
td {{ white-space: nowrap; }} td:first-child {{ white-space: normal; }}
tr.chosen > * {{ font-weight: 650; }}
.heat td {{ background: color-mix(in srgb, var(--heat) var(--shade), var(--surface)); border: 2px solid var(--surface);
  text-align: center; padding: .45rem .6rem; border-radius: 4px; }}
.heat th {{ border: 0; padding: .35rem .5rem; }} .heat thead th {{ text-align: center; }}
.heat thead th {{ white-space: normal; overflow-wrap: anywhere; min-width: 4.5rem; vertical-align: bottom; }}
.heat thead th:first-child, .heat tbody th {{ text-align: left; padding-left: 0; min-width: 5.5rem; max-width: 14rem;
  position: sticky; left: 0; background: var(--surface); }}
.heat small {{ font-size: .78rem; white-space: nowrap; }}
details {{ background: var(--surface); border: 1px solid var(--line); border-radius: 10px; margin: .6rem 0;
  padding: 0 1.1rem; }}
summary {{ cursor: pointer; padding: .75rem 0; font-weight: 600; }}
summary small {{ font-weight: 400; color: var(--muted); margin-left: .5rem; font-size: .86rem; }}
details > .scroll {{ padding-bottom: .9rem; }}
.find {{ display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; margin: 1rem 0; }}
.find input {{ font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--muted);
  border-radius: 8px; padding: .5rem .8rem; width: min(26rem, 100%); }}
.find output {{ color: var(--muted); font-size: .9rem; }}
.odds {{ max-width: 46rem; }}
.badge {{ color: var(--good); font-weight: 650; }} .strong {{ font-weight: 650; }}
code, pre {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .88em; overflow-wrap: anywhere; }}
pre {{ white-space: pre-wrap; background: var(--raised); border-radius: 8px; padding: .9rem 1.1rem; margin: .75rem 0; }}
dl.facts {{ display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.4rem; margin: 1rem 0; }}
dl.facts dt {{ color: var(--muted); }} dl.facts dd {{ margin: 0; overflow-wrap: anywhere; }}
footer {{ border-top: 1px solid var(--line); color: var(--muted); font-size: .88rem; padding-top: 1.2rem;
  padding-bottom: 3rem; margin-top: 4rem; }}
@media (max-width: 40rem) {{
  header, main, footer {{ padding-left: 1rem; padding-right: 1rem; }}
  header {{ padding-top: 2rem; }}
  nav ul {{ padding-left: 1rem; padding-right: 1rem; }}
  .tiles {{ grid-template-columns: 1fr 1fr; gap: .7rem; }}
  .tiles div {{ padding: .8rem .85rem; }} .tiles dd {{ font-size: 1.3rem; }}
  .card {{ padding: 1rem .9rem; }}
  thead th {{ white-space: normal; }} th:first-child, td:first-child {{ min-width: 5rem; }}
  th, td {{ padding-left: .4rem; padding-right: .4rem; }}
  .rows {{ grid-template-columns: 1fr max-content; }}
  .row-label {{ grid-column: 1 / -1; min-height: 0; padding-top: .45rem; max-width: none; }}
  .plot, .wide .plot {{ grid-template-rows: 12rem auto auto; }}
  .dense span:nth-child(even) {{ display: none; }}
  .heat thead th:first-child, .heat tbody th {{ max-width: 34vw; }}
  dl.facts {{ grid-template-columns: 1fr; gap: 0; }} dl.facts dd {{ margin-bottom: .6rem; }}
}}
@media print {{
  :root {{ color-scheme: light; {variables(LIGHT)} --page: #ffffff; }}
  * {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
  body {{ font-size: 10pt; }}
  nav, .find, .skip {{ display: none; }}
  header {{ padding-top: 0; }}
  section {{ margin: 1.6rem 0; }}
  .card, .tiles div, tr {{ break-inside: avoid; }}
  .tiles {{ grid-template-columns: repeat(4, 1fr); gap: .6rem; }} .tiles dd {{ font-size: 1.2rem; }}
  .tall .scroll {{ max-height: none; }}
  .cards {{ grid-template-columns: 1fr; }} .masonry {{ columns: 2; }}
  footer {{ margin-top: 1rem; padding-bottom: 0; }}
  .plot, .wide .plot {{ grid-template-rows: 10rem auto auto; }}
  h2, h3, summary, figcaption {{ break-after: avoid; }}
  a {{ color: inherit; text-decoration: none; }}
}}
""".strip()
