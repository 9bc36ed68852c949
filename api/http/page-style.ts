/** What all our pages look like, and the policy that allows their style and nothing else. */

import { createHash } from 'node:crypto'
import { type Html, html } from './html.ts'

const common = `
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
a { color: var(--link); text-underline-offset: 2px; }
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

.button { display: inline-flex; align-items: center; justify-content: center; gap: 8px; min-height: 44px; min-width: 44px;
  padding: 0 16px; border: 1px solid var(--edge); border-radius: 8px; background: var(--card); color: var(--ink);
  font: inherit; font-size: 15px; font-weight: 600; text-decoration: none; white-space: nowrap;
  cursor: pointer; }
.button:hover { border-color: var(--accent); color: var(--accent); }
.strong, .strong:hover { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.strong:hover { filter: brightness(1.12); }
.card { margin-top: 16px; padding: 20px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
.error { color: var(--bad); font-size: 14px; }
@media (max-width: 560px) {
  h1 { font-size: 24px; }
  .card { padding: 14px; }
}
`

export interface PageStyle {
  element: Html
  /** Goes with every page: no script runs and nothing is loaded, even if a value ever came through as markup. */
  contentSecurityPolicy: string
}

/** The common style and what a family of pages adds to it. */
export function createPageStyle(own: string): PageStyle {
  const style = `${common}${own}`
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return { element: html`<style>${{ markup: style }}</style>`, contentSecurityPolicy: policy.join('; ') }
}
