/** The frame of the pages of accounts. */

import { type Html, html } from '../../../api/http/html.ts'
import { renderDocument } from '../../../api/http/page-document.ts'
import type { Account } from '../../../auth/accounts/account.ts'
import { styleElement } from './style.ts'

export interface Layout {
  title: string
  main: Html
  /** Who is signed in. */
  account: Account | undefined
}

export function renderPage({ title, main, account }: Layout): string {
  const body = html`<main>
<h1>${title}</h1>
${main}</main>`
  return renderDocument({ title, style: styleElement, body, ...(account === undefined ? {} : { menu }) })
}

const menu = html`<nav class="menu" aria-label="Pages"><a href="account">Account</a><a href="device">Devices</a></nav>`
