/** The style of the browsable page, and the policy that allows it and nothing else. */

import { createHash } from 'node:crypto'
import { type Html, html } from '../../http/html.ts'

const style = `
:root {
  --page: #f4f3ef; --card: #fff; --ink: #1e1b29; --soft: #5f5b6e; --line: #dbd8e2; --edge: #8b8799;
  --accent: #4b3ba8; --on-accent: #fff; --accent-wash: #ece9fa; --literal: #0b6b5e; --link: #1d4fbf;
  --good: #17653a; --bad: #b3261e; --bad-wash: #fdecea; --grid: #e3ddcf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131218; --card: #1b1a22; --ink: #e9e7f1; --soft: #a8a4b8; --line: #34313f; --edge: #78748a;
    --accent: #b5a8ff; --on-accent: #17132e; --accent-wash: #2b2744; --literal: #6ed3c1; --link: #93b9ff;
    --good: #79d39b; --bad: #ff9c93; --bad-wash: #3a1f1f; --grid: #23212b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
header, .breadcrumb, main { padding: 0 max(16px, calc((100% - 1080px) / 2)); }
a { color: var(--link); text-underline-offset: 2px; }
pre a { text-underline-offset: 4px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
h1, h2, p, ol, ul, pre { margin: 0; padding: 0; }
ol, ul { list-style: none; }
h1 { font-size: 28px; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin-bottom: 12px; font-size: 18px; }
code, pre, .request { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }

header { display: flex; align-items: center; gap: 12px; height: 48px; border-bottom: 1px solid var(--line);
  background: repeating-linear-gradient(var(--grid) 0 1px, transparent 1px 12px),
    repeating-linear-gradient(90deg, var(--grid) 0 1px, transparent 1px 24px) var(--card); }
header p { margin-left: -8px; padding: 0 8px; background: var(--card); font-weight: 650; letter-spacing: .02em; }
header svg { flex: 1; min-width: 0; height: 48px; }
header path { stroke: var(--accent); stroke-width: 1.5; }

.breadcrumb { padding-block: 14px; font-size: 14px; color: var(--soft); }
.breadcrumb ol, .buttons, .actions, .pager ul { display: flex; flex-wrap: wrap; }
.breadcrumb li + li::before { content: '/'; content: '/' / ''; padding: 0 8px; color: var(--edge); }

main { padding-bottom: 48px; }
.title { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between; gap: 16px; }
.title p { color: var(--soft); }
.actions, .buttons { gap: 8px; }
.button { display: inline-flex; align-items: center; justify-content: center; gap: 8px; min-height: 44px; min-width: 44px;
  padding: 0 16px; border: 1px solid var(--edge); border-radius: 8px; background: var(--card); color: var(--ink);
  font: inherit; font-size: 15px; font-weight: 600; text-decoration: none; white-space: nowrap;
  cursor: pointer; }
.button:hover { border-color: var(--accent); color: var(--accent); }
.strong, .strong:hover { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.strong:hover { filter: brightness(1.12); }
.split { display: flex; gap: 1px; }
.split a { border-radius: 8px 0 0 8px; }
.split button { border-radius: 0 8px 8px 0; padding: 0; }
.count { min-width: 22px; padding: 0 6px; border-radius: 11px; background: var(--accent); color: var(--on-accent);
  font-size: 13px; line-height: 22px; text-align: center; }

[popover] { border: 1px solid var(--line); border-radius: 12px; background: var(--card); color: inherit;
  box-shadow: 0 12px 40px rgb(0 0 0 / .25); }
#formats { min-width: 120px; padding: 6px; }
#formats a { display: block; padding: 9px 14px; border-radius: 6px; color: inherit; text-decoration: none; }
#formats a:hover { background: var(--accent-wash); color: var(--accent); }
@supports (position-area: bottom span-left) {
  #formats { position-area: bottom span-left; margin: 6px 0 0; }
}
.panel { width: min(760px, 100% - 24px); max-height: calc(100dvh - 24px); padding: 20px; overflow-y: auto; }
.panel::backdrop { background: rgb(10 8 20 / .45); }
.panel-title { display: flex; align-items: center; justify-content: space-between; margin-bottom: 12px; }
.panel-title h2 { margin: 0; }
.panel-title .button { font-size: 22px; }
.panel .buttons { position: sticky; bottom: -20px; margin: 0 -20px -20px; padding: 12px 20px; background: var(--card);
  border-top: 1px solid var(--line); }
.note { margin-bottom: 16px; color: var(--soft); }

.pager { margin-top: 16px; }
.pager ul { gap: 4px; }
.pager a, .pager span { display: block; min-width: 40px; padding: 0 8px; border: 1px solid transparent; border-radius: 8px;
  line-height: 38px; text-align: center; text-decoration: none; white-space: nowrap; font-variant-numeric: tabular-nums; }
.pager a { border-color: var(--line); background: var(--card); color: var(--ink); }
.pager a:hover { border-color: var(--accent); color: var(--accent); }
.pager [aria-current] { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 650; }
.pager span { color: var(--soft); }

.card { margin-top: 16px; padding: 20px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
.request { padding-bottom: 14px; border-bottom: 1px solid var(--line); font-size: 14px; }
.request b { padding: 3px 8px; border-radius: 6px; background: var(--accent-wash); color: var(--accent); }
pre { font-size: 13px; line-height: 1.6; white-space: pre-wrap; }
.answer { padding: 14px 0; }
.answer b { font-weight: 400; color: var(--soft); }
.answer .good, .answer .bad { font-weight: 700; }
.answer .good { color: var(--good); }
.answer .bad { color: var(--bad); }
.json b { font-weight: 400; color: var(--accent); }
.json i { font-style: normal; color: var(--literal); }
.json span { --wrapped: calc(var(--depth) * 4ch + 4ch); display: block; padding-left: var(--wrapped);
  text-indent: calc(0ch - var(--wrapped)); }
${Array.from({ length: 9 }, (_, depth) => `.d${depth} { --depth: ${depth}; }`).join('\n')}

fieldset { margin: 0 0 16px; padding: 0; border: 0; min-width: 0; }
legend { padding: 0; font-weight: 600; }
legend code { padding-left: 6px; color: var(--soft); font-size: 13px; font-weight: 400; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); column-gap: 12px; }
.choices label { display: flex; align-items: center; gap: 8px; min-height: 36px; padding: 4px 0; line-height: 1.3; }
::placeholder { color: var(--soft); opacity: 1; }
input { accent-color: var(--accent); }
input[type=checkbox] { flex: none; width: 18px; height: 18px; margin: 0; }
.numbers, .texts { display: flex; flex-wrap: wrap; gap: 8px; padding-top: 6px; }
input[type=text] { width: 140px; min-height: 44px; padding: 0 12px; border: 1px solid var(--edge); border-radius: 8px;
  background: var(--page); color: inherit; font: inherit; }
.texts input[type=text] { width: 100%; }
.wrong { padding-left: 12px; border-left: 3px solid var(--bad); }
.error { color: var(--bad); font-size: 14px; }
.buttons { justify-content: flex-end; }

@media (max-width: 560px) {
  h1 { font-size: 24px; }
  .actions { gap: 6px; }
  .actions .button { padding: 0 11px; font-size: 14px; }
  .pager ul { gap: 3px; }
  .pager a, .pager span { min-width: 34px; padding: 0 5px; font-size: 15px; }
  .pager .gap { min-width: 14px; padding: 0; }
  .card { padding: 14px; }
  pre { font-size: 12px; }
  /* Half of the indent stands beyond the left edge, so that deep lines keep their room. */
  .json span { margin-left: calc(var(--depth) * -2ch); }
}
`

export const styleElement: Html = html`<style>${{ markup: style }}</style>`

const hash = createHash('sha256').update(style).digest('base64')

/** Goes with every page: no script runs and nothing is loaded, even if a value ever came through as markup. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
