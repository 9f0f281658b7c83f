/** The page's whole style sheet; its hash stands in the page's policy. */
export const style = `
:root { --ink: #1d2327; --dim: #5d6a73; --paper: #fdfdfc; --line: #dcdfe1; --box: #f3f4f4; --good: #14653a; --bad: #a3231f; --mark: #1d5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe3e6; --dim: #98a3ab; --paper: #16191b; --line: #343a3f; --box: #1f2427; --good: #6fcf97; --bad: #ff8a80; --mark: #7db7f5; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
small, header p, footer, .note, .asked { color: var(--dim); font-size: .85rem; font-weight: normal; }
.said { border-left: 3px solid var(--mark); padding-left: .8rem; }
.sub { margin-left: 1.5rem; }
.call { border: 1px solid var(--line); border-radius: 6px; padding: 0 .8rem .6rem; margin: .6rem 0; }
.call h3 { font-family: ui-monospace, monospace; margin-top: .6rem; }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--box); border-radius: 4px; margin: .3rem 0; padding: .5rem .7rem; font: .85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40rem; overflow-y: auto; }
summary { cursor: pointer; color: var(--dim); font-size: .85rem; }
.asked b { color: var(--good); }
h3 span { color: var(--dim); font-size: .85rem; }
.failed, .refused-by-rule, .refused-by-person, .invalid, .unknown { color: var(--bad); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); }
`;
