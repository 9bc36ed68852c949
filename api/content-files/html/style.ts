import { createPageStyle } from '../../http/page-document.ts'

export const { element: styleElement, contentSecurityPolicy } = createPageStyle(`
.breadcrumb, main { padding: 0 var(--side); }
pre a { text-underline-offset: 4px; }

.breadcrumb { padding-block: 14px; font-size: 14px; color: var(--soft); }
.breadcrumb ol, .buttons, .actions, .pager ul { display: flex; flex-wrap: wrap; }
.breadcrumb li + li::before { content: '/'; content: '/' / ''; padding: 0 8px; color: var(--edge); }

main { padding-bottom: 48px; }
.title { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between; gap: 16px; }
.title p { color: var(--soft); }
.actions, .buttons { gap: 8px; }
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
input[type=checkbox] { flex: none; width: 18px; height: 18px; margin: 0; }
.numbers, .texts { display: flex; flex-wrap: wrap; gap: 8px; padding-top: 6px; }
input[type=text] { width: 140px; background: var(--page); }
.texts input[type=text] { width: 100%; }
.wrong { padding-left: 12px; border-left: 3px solid var(--bad); }
.buttons { justify-content: flex-end; }

@media (max-width: 560px) {
  .actions { gap: 6px; }
  .actions .button { padding: 0 11px; font-size: 14px; }
  .pager ul { gap: 3px; }
  .pager a, .pager span { min-width: 34px; padding: 0 5px; font-size: 15px; }
  .pager .gap { min-width: 14px; padding: 0; }
  pre { font-size: 12px; }
  /* Half of the indent is beyond the left edge, so that deep lines keep their width. */
  .json span { margin-left: calc(var(--depth) * -2ch); }
}
`)
