/// `/console.css`. Colours are told apart by their lightness too, and text on each of them has a contrast of 4.5 to 1.
enum ConsoleStyle {
    static let text = """
        :root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --faint: #d6dbe1; --accent: #0b57d0; --bad: #a50e0e; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e6e8eb; --paper: #14171a; --faint: #3a4047; --accent: #a8c7fa; --bad: #f2b8b5; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
        header { border-bottom: 1px solid var(--faint); padding: .5rem 1rem; display: flex; flex-wrap: wrap; gap: 1rem; align-items: baseline; }
        .name { font-weight: 700; margin: 0; }
        nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
        a { color: var(--accent); } a[aria-current] { font-weight: 700; text-decoration: none; }
        main { max-width: 76rem; margin: 0 auto; padding: 1rem; }
        h1 { font-size: 1.6rem; margin: .5rem 0 1rem; } h2 { font-size: 1.2rem; margin: 1.5rem 0 .5rem; }
        form { margin: 0; } form.fields { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: .5rem 0 1rem; }
        label { display: inline-flex; flex-direction: column; font-size: .875rem; }
        input, select, textarea, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid currentColor; border-radius: .25rem; padding: .25rem .5rem; min-height: 2rem; }
        .check { flex-direction: row; align-items: center; gap: .5rem; } .check input { min-height: 0; } textarea { width: min(26rem, 80vw); } p code, li code { overflow-wrap: anywhere; }
        .text { white-space: pre-wrap; } .long { min-width: 20rem; }
        button { cursor: pointer; } nav button { border: 0; text-decoration: underline; color: var(--accent); min-height: 0; padding: 0; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .875rem; }
        th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--faint); vertical-align: top; max-width: 24rem; overflow-wrap: break-word; }
        .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .bad, .failure { color: var(--bad); font-weight: 600; } pre { overflow-x: auto; background: color-mix(in srgb, var(--faint) 40%, transparent); padding: .75rem; }
        figure { margin: 1rem 0; } figcaption { font-weight: 600; } svg { width: 100%; max-width: 60rem; height: auto; }
        svg text { font-size: 11px; fill: var(--ink); } .grid { stroke: var(--faint); } .point { fill: transparent; } .line { fill: none; stroke-width: 2; }
        .s0 { fill: #0b57d0; stroke: #0b57d0; background: #0b57d0; } .s1 { fill: #b3261e; stroke: #b3261e; background: #b3261e; }
        .s2 { fill: #e8a33d; stroke: #e8a33d; background: #e8a33d; } .s3 { fill: #146c2e; stroke: #146c2e; background: #146c2e; }
        .s4 { fill: #7b4bb8; stroke: #7b4bb8; background: #7b4bb8; } .s5 { fill: #5f6368; stroke: #5f6368; background: #5f6368; }
        .line.s0, .line.s1, .line.s2, .line.s3, .line.s4, .line.s5 { fill: none; }
        .key { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; }
        dl { display: grid; grid-template-columns: max-content auto; gap: .25rem 1.5rem; } dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }

        """
}
