/** Begins sessions of visitors and finds the page after the sign-in. */

import type { Account } from '../../../auth/accounts/account.ts'
import type { Client } from '../../../auth/accounts/account-parts.ts'
import { writeSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { KnownSession } from '../../../auth/sessions/sessions.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import type { PageAnswer } from './page.ts'

/** Begins a session and redirects to another page. */
export async function signIn(
  service: AccountService,
  account: Account,
  client: Client,
  to: string,
): Promise<PageAnswer> {
  return {
    kind: 'redirect',
    to,
    cookies: await cookiesOf(service, account, await service.sessions.start(account, client)),
  }
}

export async function cookiesOf(
  { sessions, codec: { cookieName, isSecure } }: AccountService,
  account: Account,
  session: KnownSession,
): Promise<string[]> {
  const { token, expiresMs } = await sessions.issueCookie(account, session)
  return writeSessionCookie(cookieName, token, { isSecure, expiresMs })
}

export const homePage = 'account'

/** Page after a sign-in: a path of this service, otherwise the account. */
export function returnAddress(callbackUrl: string | undefined, publicUrl: string): string {
  const base = URL.parse(`${publicUrl}/`)
  const url = callbackUrl === undefined || base === null ? null : URL.parse(callbackUrl, base.href)
  if (url === null || url.origin !== base?.origin) return homePage
  // Two leading slashes would lead to another host.
  return url.pathname.startsWith('//') ? homePage : `${url.pathname}${url.search}`
}
