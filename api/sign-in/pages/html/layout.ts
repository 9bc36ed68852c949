/** Renders the frame of the account pages. */

import type { Account } from '../../../../auth/accounts/account.ts'
import { visitorOf } from '../../../credentials/visitor.ts'
import { type Html, html } from '../../../http/html.ts'
import { renderDocument } from '../../../http/page-document.ts'
import { styleElement } from './style.ts'

export interface Layout {
  /** `/account`; undefined for a page without its own address, such as an error page. */
  path: string | undefined
  title: string
  main: Html
  /** Null without a signed-in account; undefined if it is not looked up. */
  account: Account | null | undefined
  script?: Html | undefined
}

const sections = [
  { path: '/account', name: 'Your account' },
  { path: '/device', name: 'Connect a device' },
]

/** All of these pages are in the root of the service. */
export function renderPage({ path, title, main, account, script }: Layout): string {
  const isOfAccount = sections.some(section => section.path === path)
  const body = html`<main id="main">
${isOfAccount ? sectionsFrom(path) : undefined}<h1>${title}</h1>
${main}</main>`
  const current = isOfAccount ? 'account' : undefined
  return renderDocument({
    title,
    style: styleElement,
    body,
    script,
    root: './',
    current,
    visitor: account && visitorOf(account),
  })
}

function sectionsFrom(current: string | undefined): Html {
  const links = sections.map(({ path, name }) => {
    const isCurrent = path === current ? html` aria-current="page"` : undefined
    return html`<a href="${path.slice(1)}"${isCurrent}>${name}</a>`
  })
  return html`<nav class="sections" aria-label="Pages of the account">${links}</nav>
`
}
