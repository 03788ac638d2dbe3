"""The style of every page: system fonts, light, dark and print, nothing to load.

Colours have names of what they mean. Text colours keep a contrast of 4.5 to 1 on `--ground` and `--card`, fills 3 to 1, in both
schemes (a test measures it). `p0`-`p3` tell the golden paths of one sample apart, in its query, graph and call alike.
"""

LIGHT = {
    "ground": "#faf9f6",
    "card": "#ffffff",
    "ink": "#1b1d21",
    "muted": "#5b616b",
    "line": "#e3e0d8",
    "track": "#f0eee8",
    "accent": "#0b6a6a",
    "good": "#1d6f42",
    "warn": "#a8480b",
    "p0": "#0b6a6a",
    "p1": "#8a3f8f",
    "p2": "#995300",
    "p3": "#3b5fb0",
    "s0": "#2f7f7c",
    "s1": "#c2502e",
    "s2": "#a97a12",
    "s3": "#8a4f96",
    "s4": "#3f68b5",
    "s5": "#74777d",
}
DARK = {
    "ground": "#131518",
    "card": "#1a1d21",
    "ink": "#ebe8e2",
    "muted": "#a3a9b2",
    "line": "#30343a",
    "track": "#262a2f",
    "accent": "#63c7bf",
    "good": "#74cf9a",
    "warn": "#f0a26a",
    "p0": "#63c7bf",
    "p1": "#d9a0dc",
    "p2": "#e5ae5f",
    "p3": "#93b4f5",
    "s0": "#4fb0a8",
    "s1": "#ee8360",
    "s2": "#d9b04e",
    "s3": "#c08acb",
    "s4": "#83a6ee",
    "s5": "#92979e",
}


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


_RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth;print-color-adjust:exact;-webkit-print-color-adjust:exact}
body{margin:0;background:var(--ground);color:var(--ink);
 font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
code{font-size:.92em;overflow-wrap:anywhere}
.wrap{max-width:70rem;margin:0 auto;padding:0 1.5rem}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem;z-index:2}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
a{color:var(--accent);text-underline-offset:.18em}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--accent);outline-offset:3px;border-radius:4px}
header.top{padding:3.25rem 0 1.5rem}
.over{margin:0 0 .5rem;font-size:.8rem;font-weight:600;letter-spacing:.09em;text-transform:uppercase;color:var(--accent)}
h1{margin:0;font-size:clamp(1.9rem,1.3rem + 2.6vw,2.9rem);line-height:1.12;font-weight:680;letter-spacing:-.022em;overflow-wrap:anywhere}
.sub{margin:.6rem 0 0;color:var(--muted);font-size:1.02rem;overflow-wrap:anywhere}
nav.contents{position:sticky;top:0;z-index:1;background:var(--ground);border-block:1px solid var(--line)}
nav.contents ul{display:flex;gap:1.4rem;list-style:none;margin:0;padding:.6rem 0;overflow-x:auto;scrollbar-width:none}
nav.contents a{color:var(--muted);text-decoration:none;font-size:.88rem;white-space:nowrap}
nav.contents a:hover{color:var(--ink)}
section{padding:2.6rem 0 .4rem;scroll-margin-top:2.4rem}
h2{margin:0 0 .3rem;font-size:1.38rem;line-height:1.25;font-weight:660;letter-spacing:-.012em}
h3{margin:0 0 .7rem;font-size:.95rem;font-weight:640;line-height:1.35}
.lead{margin:0 0 1.15rem;color:var(--muted);max-width:46rem}
.note{margin:.8rem 0 0;color:var(--muted);font-size:.88rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.15rem 1.3rem;min-width:0}
.grid{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));align-items:start}
h2+:not(.lead){margin-top:.9rem}
.grid+.grid,.grid+.card,.card+.card,.card+.grid,.note+.scroll{margin-top:1rem}
.grid>.card{margin-top:0}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);background:var(--card);border:1px solid var(--line);border-radius:12px;overflow:hidden;margin:0}
.tiles>div{padding:1rem 1.2rem;display:flex;flex-direction:column;box-shadow:1px 0 0 var(--line),0 1px 0 var(--line)}
.tiles.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,9.5rem),1fr))}
.tiles.small dd:not(.more){font-size:1.3rem}
.tiles dt{color:var(--muted);font-size:.84rem;order:2;overflow-wrap:anywhere}
.tiles dd{margin:0;order:1;font-size:1.8rem;font-weight:640;line-height:1.2;letter-spacing:-.02em;font-variant-numeric:tabular-nums;
 overflow-wrap:anywhere}
.tiles dd.more{order:3;font-size:.8rem;font-weight:400;letter-spacing:0;color:var(--muted);line-height:1.4}
.tiles .good dd:not(.more){color:var(--good)}
.tiles .warn dd:not(.more){color:var(--warn)}
.facts{list-style:none;margin:0 0 1rem;padding:0;display:grid;gap:.35rem}
.facts li{padding-left:1.6rem;position:relative}
.facts li::before{position:absolute;left:.1rem;font-weight:700}
.facts .good::before{content:"\\2713" / "";color:var(--good)}
.facts .warn::before{content:"!" / "";color:var(--warn);left:.35rem}
.good-text{color:var(--good);white-space:nowrap}
.warn-text{color:var(--warn);font-weight:600;white-space:nowrap}
.none{color:var(--muted)}
.scroll{overflow:auto}
.tall{max-height:30rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}
table.wide{min-width:42rem}
caption{text-align:left;color:var(--muted);font-size:.86rem;padding-bottom:.5rem}
th,td{padding:.48rem .9rem .48rem 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
tr>:last-child{padding-right:.2rem}
thead th{font-size:.8rem;font-weight:600;color:var(--muted);border-bottom-color:var(--muted);white-space:nowrap}
.tall thead th{position:sticky;top:0;background:var(--card)}
tbody th{font-weight:560;min-width:7rem}
tbody th .none{font-weight:400}
tbody tr:last-child>*{border-bottom:0}
td.number+td:not(.number),th.number+th:not(.number){padding-left:.8rem}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
details>summary{cursor:pointer;font-weight:560;padding:.1rem 0}
details[open]>summary{margin-bottom:.8rem}
svg{display:block}
svg text{fill:var(--ink);font-size:13px}
svg .quiet{fill:var(--muted)}
svg .tick{fill:var(--muted);font-size:11px}
svg .end{text-anchor:end;font-variant-numeric:tabular-nums}
svg .mid{text-anchor:middle}
svg .strong{font-weight:640}
svg.chart{width:100%;overflow:visible}
svg .track{fill:var(--track)}
svg .bar{fill:var(--s0)}
svg .bar.over-goal{fill:var(--s1)}
svg .rule{stroke:var(--line);stroke-width:1}
svg .goal{stroke:var(--ink);stroke-width:2}
.s0{fill:var(--s0);background:var(--s0)}.s1{fill:var(--s1);background:var(--s1)}.s2{fill:var(--s2);background:var(--s2)}
.s3{fill:var(--s3);background:var(--s3)}.s4{fill:var(--s4);background:var(--s4)}.s5{fill:var(--s5);background:var(--s5)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:.9rem 0 0;padding:0;font-size:.86rem;color:var(--muted)}
.legend i{display:inline-block;width:.75rem;height:.75rem;border-radius:3px;margin-right:.45rem;vertical-align:-.06rem}
.legend .goal-key{width:2px;height:1rem;border-radius:0;background:var(--ink);vertical-align:-.2rem}
.p0{--p:var(--p0)}.p1{--p:var(--p1)}.p2{--p:var(--p2)}.p3{--p:var(--p3)}
.sample{padding:1.4rem 1.5rem 1.3rem}
.sample+.sample{margin-top:1.1rem}
.sample header{display:flex;flex-wrap:wrap;gap:.4rem .9rem;align-items:baseline;color:var(--muted);font-size:.86rem}
.sample h3{margin:0;font-size:.86rem;font-weight:600;color:var(--ink);overflow-wrap:anywhere}
blockquote{margin:.75rem 0 1.1rem;font-size:1.16rem;line-height:1.6;max-width:54rem;overflow-wrap:anywhere}
mark{background:color-mix(in srgb,var(--p) 14%,transparent);color:inherit;border-bottom:2px solid var(--p);padding:.06em .1em;
 border-radius:3px 3px 0 0;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.said{text-decoration:underline dotted var(--muted) 1.5px;text-underline-offset:.28em}
.split{display:grid;gap:1.2rem 2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));margin-top:1.1rem}
.split>*{min-width:0}
.split p.none{margin:0}
.split h4{margin:0 0 .45rem;font-size:.8rem;font-weight:600;color:var(--muted)}
pre{margin:0;padding:.85rem 1rem;background:var(--track);border-radius:8px;font-size:.83rem;line-height:1.6;white-space:pre-wrap;
 overflow-wrap:anywhere;unicode-bidi:isolate;direction:ltr}
pre+pre{margin-top:.5rem}
.chips{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:0;padding:0;font-size:.82rem}
.chips li{border:1px solid var(--line);border-radius:6px;padding:.1rem .55rem;color:var(--muted);overflow-wrap:anywhere;max-width:100%}
.chips .golden{border-color:var(--accent);color:var(--accent);font-weight:600}
.chips .golden::before{content:"\\2713\\00a0" / ""}
.case{padding:.9rem 0;border-top:1px solid var(--line)}
.case header{display:flex;flex-wrap:wrap;gap:.25rem .9rem;align-items:baseline;color:var(--muted);font-size:.86rem}
.case h3{margin:0;color:var(--ink)}
.case p{margin:.35rem 0 0;overflow-wrap:anywhere;max-width:54rem}
.case .reason{font-size:.92rem}
.graph-box{overflow-x:auto;padding:.2rem 0}
svg.graph .node{fill:var(--card);stroke:var(--muted);stroke-width:1.25}
svg.graph .speaker{fill:var(--ink);stroke:var(--ink)}
svg.graph .speaker-text{fill:var(--card);font-weight:600}
svg.graph .value{fill:color-mix(in srgb,var(--p) 14%,var(--card));stroke:var(--p);stroke-width:1.5}
svg.graph .value-text{font-weight:600}
svg.graph .slot{fill:var(--track);stroke:var(--p);stroke-width:1.25;stroke-dasharray:4 3}
svg.graph .edge{fill:none;stroke:var(--muted);stroke-width:1.4}
svg.graph .fills{fill:none;stroke:var(--p);stroke-width:1.4;stroke-dasharray:4 3}
svg.graph .head{fill:var(--muted)}
svg.graph .fills-head{fill:var(--p)}
svg.graph .relation{font-size:12px;fill:var(--muted)}
svg.graph .small{font-size:11px;fill:var(--muted)}
footer{margin:3rem 0 0;padding:1.2rem 0 2.5rem;border-top:1px solid var(--line);color:var(--muted);font-size:.86rem}
@media (max-width:40rem){
 .wrap{padding:0 1rem}
 header.top{padding-top:2rem}
 section{padding-top:2rem}
 .card,.sample{padding:1rem}
 svg.chart text{font-size:11.5px}
 .tiles{grid-template-columns:repeat(2,1fr)}
 .tiles dd{font-size:1.45rem}
 blockquote{font-size:1.06rem}
}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media (forced-colors:active){mark{border-bottom-color:Highlight}svg.graph .speaker-text{fill:Canvas}svg.graph .speaker{fill:CanvasText}}
@media print{
 @page{margin:16mm 14mm}
 body{font-size:10pt;background:#fff}
 .wrap{max-width:none;padding:0}
 nav.contents,.skip{display:none}
 header.top{padding-top:0}
 section{padding-top:1.4rem}
 h2,h3,.lead{break-after:avoid}
 .card,.tiles,tr,pre,blockquote{break-inside:avoid}
 .card.long{break-inside:auto}
 table.wide{min-width:0}
 .scroll,.tall,.graph-box{overflow:visible;max-height:none}
 .tall thead th{position:static}
 svg.graph{max-width:100%;height:auto}
 .split{grid-template-columns:1fr 1fr}
 pre{font-size:8pt}
 .sample+.sample{margin-top:.7rem}
}
"""

STYLE = (
    ":root{color-scheme:light dark;"
    + _variables(LIGHT)
    + "}@media screen and (prefers-color-scheme:dark){:root{"
    + _variables(DARK)
    + "}}"
    + _RULES
)
"""The whole style sheet."""
