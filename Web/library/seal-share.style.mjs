// How <seal-share> looks, light and dark. An app changes the colours by the properties that begin with --seal-share.

const rules = `
:host { display: block; color-scheme: light dark; font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    --ground: var(--seal-share-ground, light-dark(#ffffff, #1d2320)); --text: var(--seal-share-text, light-dark(#17201c, #e8eeea));
    --quiet: var(--seal-share-quiet, light-dark(#55625c, #a2b0a9)); --line: var(--seal-share-line, light-dark(#d8ddd9, #35403a));
    --edge: light-dark(#78847e, #7f8c85); --accent: var(--seal-share-accent, light-dark(#1f6f54, #5fc29b));
    --on-accent: var(--seal-share-on-accent, light-dark(#ffffff, #06231a)); --soft: light-dark(#e6f0eb, #22322b);
    --bad: light-dark(#a3201d, #ff9a94); --on-bad: light-dark(#ffffff, #3a0908); --bad-soft: light-dark(#fbe9e8, #3a1c1b); }
:host([hidden]) { display: none; }
*, ::before, ::after { box-sizing: border-box; }
.drawn { background: var(--ground); color: var(--text); border: 1px solid var(--line); border-radius: 1rem; padding: 1.25rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; } h2:focus { outline: none; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: 0 0 .75rem; }
.hint, .state { color: var(--quiet); font-size: .9rem; } .hint { margin: .3rem 0 .6rem; }
.people { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
.people > li { padding: .8rem 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .4rem .8rem; align-items: start; }
.people > li > * { grid-column: 1 / -1; } .people > li > .who { grid-column: 1; } .people > li > .choice { grid-column: 2; }
.choice { display: flex; flex-wrap: wrap; gap: .6rem; } .choice [hidden] { display: none; }
.people > li.made { box-shadow: inset .25rem 0 var(--accent); padding-left: .8rem; }
.who { display: flex; flex-direction: column; } .who strong { overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin: .8rem 0 .3rem; }
input, select { font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--edge); border-radius: .6rem; min-height: 2.75rem;
    padding: .45rem .7rem; max-width: 100%; }
input { width: 100%; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: .45rem 1rem; border-radius: .7rem; border: 1px solid var(--edge);
    background: var(--ground); color: var(--text); cursor: pointer; overflow-wrap: anywhere; }
button:hover { border-color: var(--accent); }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.bad { background: var(--bad); border-color: var(--bad); color: var(--on-bad); }
button.quiet { border-color: transparent; background: none; color: var(--bad); padding-inline: .4rem; margin-left: -.4rem; }
button.quiet:hover { text-decoration: underline; }
[aria-disabled=true] { cursor: progress; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .6rem; margin: .6rem 0 0; } li > .row { margin: 0; }
details > summary { cursor: pointer; color: var(--accent); font-weight: 600; min-height: 1.75rem; }
.digits { font-family: ui-monospace, monospace; font-variant-numeric: tabular-nums; display: grid; grid-template-columns: repeat(auto-fill, minmax(4.2rem, 1fr));
    gap: .2rem .6rem; margin: .4rem 0 0; }
.sending, .ask, .note { background: var(--soft); border-radius: .7rem; padding: .8rem 1rem; } .sending .hint { color: var(--text); margin-top: 0; }
.ask { background: var(--bad-soft); } .ask p { margin: 0; }
.qr { display: block; width: min(16rem, 100%); margin: .8rem 0 0; border-radius: .4rem; shape-rendering: crispEdges; }
.qr path { fill: #000; } .qr .ground { fill: #fff; }
.end { margin-top: 1.5rem; border-top: 1px solid var(--line); padding-top: .8rem; }
.told, .problem { position: sticky; bottom: .5rem; margin: 1rem 0 0; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: .7rem; background: var(--ground);
    overflow-wrap: anywhere; }
.problem { color: var(--bad); border-color: var(--bad); }
.told:empty, .problem:empty { margin: 0; padding: 0; border: 0; }
@media (max-width: 30rem) { .people > li > .choice { grid-column: 1 / -1; } .drawn { padding: 1rem; } .row button { flex: 1 1 auto; } }
`;

/** @type {CSSStyleSheet | undefined} */
let made;

/** @returns {CSSStyleSheet} made by script: a policy that refuses inline styles allows it */
export function sheet() {
    if (!made) {
        made = new CSSStyleSheet();
        made.replaceSync(rules);
    }
    return made;
}
