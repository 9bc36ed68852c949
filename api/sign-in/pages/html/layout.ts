/** The layout of the pages: their frame, style and script. */

import type { Words } from '../../../../analytics/findings/words.ts'
import type { Account } from '../../../../auth/accounts/account.ts'
import { visitorOf } from '../../../credentials/find-principal.ts'
import { type Html, html } from '../../../http/html.ts'
import { createPageStyle, renderDocument } from '../../../http/page-document.ts'

const own = `
main { padding: 24px var(--narrow-side) 64px; }
h1 + p, h1 + .notice { margin-top: 8px; }
.lead, .hint, .more { color: var(--soft); }
.hint { font-size: 14px; }
.more { margin-top: 20px; }
section + section, section + form { margin-top: 20px; }

.notice { padding: 12px 16px; border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 8px;
  background: var(--card); }
.alert, .warning { padding: 12px 16px; border-left: 4px solid var(--bad); border-radius: 8px; background: var(--bad-wash);
  color: var(--ink); }
.notice, .alert, .warning { margin-top: 16px; }
.alert:focus { outline: none; }
input[type=hidden] + .alert { margin-top: 0; }

.field { display: grid; gap: 4px; margin-top: 16px; }
input:is([type=hidden], [hidden]) + .field { margin-top: 0; }
label, legend { font-weight: 600; }
input:not([type=checkbox]), select { width: 100%; background: var(--page); }
input[aria-invalid] { border-color: var(--bad); border-width: 2px; }
.code input { font-family: ui-monospace, monospace; font-size: 20px; letter-spacing: .12em; text-transform: uppercase; }
.check { display: flex; align-items: center; gap: 10px; min-height: 36px; font-weight: 400; }
.check input { flex: none; width: 18px; height: 18px; margin: 0; }
fieldset { margin: 16px 0 0; padding: 0; border: 0; min-width: 0; }
legend { padding: 0; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 20px; }
.danger { color: var(--bad); border-color: var(--bad); }
.danger:hover { color: var(--bad); border-color: var(--bad); background: var(--bad-wash); }

dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px; margin: 16px 0 0; }
dt { color: var(--soft); }
dd { margin: 0; }
section > dl:first-child { margin-top: 0; }
.secret { display: block; margin-top: 8px; padding: 12px; border: 1px dashed var(--edge); border-radius: 8px;
  background: var(--page); font-size: 14px; user-select: all; }
.secret + .button { margin-top: 8px; }
.button[hidden] { display: none; }
.keys { margin: 12px 0 20px; }
.keys li { display: grid; gap: 2px 16px; grid-template-columns: 1fr auto; align-items: start; padding: 12px 0;
  border-top: 1px solid var(--line); }
.keys li:last-child { border-bottom: 1px solid var(--line); }
.keys .name { font-weight: 600; }
.keys .hint { grid-column: 1; }
.keys details { grid-column: 2; grid-row: 1 / span 3; text-align: right; }
.keys details form { margin-top: 8px; }
summary { list-style: none; }
summary::-webkit-details-marker { display: none; }
h3 { margin: 20px 0 12px; font-size: 16px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.off .name { color: var(--soft); text-decoration: line-through; }
@media (max-width: 560px) {
  main { padding-block: 20px 48px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
}
`

const style = createPageStyle(own)
export const { contentSecurityPolicy } = style

/** Browsers provide the clipboard to pages over HTTPS and on the local machine. Elsewhere the text is selected. */
export const copyScript = `
for (const button of document.querySelectorAll('[data-copies]')) {
  const source = document.getElementById(button.dataset.copies)
  button.hidden = false
  button.onclick = async () => {
    getSelection().selectAllChildren(source)
    try {
      await navigator.clipboard.writeText(source.textContent)
      button.textContent = button.dataset.copied
    } catch {
      button.textContent = button.dataset.selected
    }
  }
}
`

export const { contentSecurityPolicy: copyingPolicy } = createPageStyle(own, copyScript)

export const copyScriptElement: Html = html`<script>${{ markup: copyScript }}</script>
`

/** Copies the element with the id. */
export function copyButton(id: string, { t }: Words): Html {
  const texts = html` data-copied="${t('Copied')}" data-selected="${t('Selected: press Ctrl+C')}"`
  return html`<button type="button" class="button" data-copies="${id}"${texts} hidden>${t('Copy')}</button>
`
}

export interface Layout {
  /** `/account`; undefined for a page without its own address, such as an error page. */
  path: string | undefined
  title: string
  main: Html
  /** Null without a signed-in account; undefined if it is not looked up. */
  account: Account | null | undefined
  script?: Html | undefined
  words: Words
}

const sectionsOf = ({ t }: Words) => [
  { path: '/account', name: t('Your account') },
  { path: '/device', name: t('Connect a device') },
]

/** All of these pages are in the root of the service. */
export function renderPage({ path, title, main, account, script, words }: Layout): string {
  const isOfAccount = sectionsOf(words).some(section => section.path === path)
  const body = html`<main id="main">
${isOfAccount ? sectionsFrom(path, words) : undefined}<h1>${title}</h1>
${main}</main>`
  const current = isOfAccount ? 'account' : undefined
  return renderDocument({
    title,
    style: style.element,
    body,
    script,
    root: './',
    current,
    visitor: account && visitorOf(account),
    words,
  })
}

function sectionsFrom(current: string | undefined, words: Words): Html {
  const links = sectionsOf(words).map(({ path, name }) => {
    const isCurrent = path === current ? html` aria-current="page"` : undefined
    return html`<a href="${path.slice(1)}"${isCurrent}>${name}</a>`
  })
  return html`<nav class="sections" aria-label="${words.t('Pages of the account')}">${links}</nav>
`
}
