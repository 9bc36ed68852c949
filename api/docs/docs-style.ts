/** The style of the documentation that the service publishes: contents beside the text, tables of fields. */

import { createPageStyle } from '../http/page-style.ts'

export const { element: styleElement, contentSecurityPolicy } = createPageStyle(`
.documentation > .sections { grid-column: 1 / -1; margin: 16px 0 0; }
.documentation { display: grid; grid-template-columns: 260px minmax(0, 1fr); gap: 0 40px;
  padding: 0 var(--side); }
.contents { position: sticky; top: 0; max-height: 100dvh; padding: 28px 4px; overflow-y: auto; font-size: 14px; }
.contents a { display: block; padding: 3px 0; text-decoration: none; }
.contents a:hover { text-decoration: underline; }
.contents li { margin-top: 8px; font-weight: 600; }
.contents li li { margin-top: 0; padding-left: 12px; font-weight: 400; }
main { padding: 28px 0 64px; }
main p, main ul, main ol { max-width: 72ch; }
main p + p, h1 + p, h2 + p, h3 + p, ul + p, ol + p, p + ol, p + ul { margin-top: 8px; }
main ul, main ol { padding-left: 24px; list-style: revert; }
h2 { margin: 48px 0 12px; padding-top: 12px; border-top: 1px solid var(--line); font-size: 22px; }
h3 { margin: 32px 0 8px; font-size: 17px; }
h4 { margin: 16px 0 4px; font-size: 15px; }
:target { scroll-margin-top: 12px; }
:is(h2, h3):target { color: var(--accent); }
code { font-size: .92em; }
.soft { color: var(--soft); }
.method { display: inline-block; min-width: 4.2em; padding: 1px 8px; border-radius: 6px; background: var(--accent-wash);
  color: var(--accent); text-align: center; }
.table { margin: 8px 0 16px; overflow-x: auto; }
table { min-width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 7px 16px 7px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { min-width: 4em; overflow-wrap: break-word; }
td:last-child { padding-right: 0; }
td:first-child { overflow-wrap: normal; }
@media (max-width: 800px) {
  .documentation { display: block; }
  .contents { position: static; max-height: none; padding-bottom: 0; }
  .contents li li { display: none; }
  .contents > ul { display: flex; flex-wrap: wrap; gap: 0 20px; }
  .contents a { padding: 11px 0; }
  .contents li { margin-top: 0; }
}
@media (max-width: 560px) {
  h2 { font-size: 20px; }
  table { min-width: 34rem; }
}
`)
