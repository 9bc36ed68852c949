/** Declares a page, and visits of it. */

import type { Words } from '../../../analytics/findings/words.ts'
import type { Account } from '../../../auth/accounts/account.ts'
import type { Client } from '../../../auth/accounts/account-parts.ts'
import { writeSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { SignedIn } from '../../../auth/sessions/session-codec.ts'
import type { KnownSession } from '../../../auth/sessions/sessions.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import type { Html } from '../../http/html.ts'

/** All pages are in one folder, so links between them are valid below any prefix that a proxy adds. */
export interface Page<Visitor = SignedIn | undefined> {
  /** `/sign-in` */
  path: string
  show(request: PageRequest<Visitor>): Promise<PageAnswer>
  /** A page without this function has no form. */
  submit?(request: PageRequest<Visitor>, form: FormFields): Promise<PageAnswer>
}

export interface PageRequest<Visitor = SignedIn | undefined> {
  /** An argument of the address; undefined if it is missing or repeated. */
  argument(name: string): string | undefined
  visitor: Visitor
  client: Client
  /** The words are in the account's language, else in the browser's. */
  words: Words
}

/** Values of a submitted form by field. */
export type FormFields = Readonly<Record<string, string>>

export interface ShownPage {
  kind: 'page'
  status: number
  title: string
  main: Html
  cookies?: readonly string[]
  retryAfterSeconds?: number | undefined
  /** True if it shows a text to copy. */
  copies?: boolean
}

/** A redirect names another page relative to this one: `account?done=profile`. */
export type PageAnswer = ShownPage | { kind: 'redirect'; to: string; cookies?: readonly string[] }

/** A page for signed-in accounts. Other visitors sign in first and return. */
export function accountPage({ path, show, submit }: Page<SignedIn>): Page {
  const to = `sign-in?callbackUrl=${path.slice(1)}`
  const orSignIn =
    <Rest extends unknown[]>(work: (request: PageRequest<SignedIn>, ...rest: Rest) => Promise<PageAnswer>) =>
    async (request: PageRequest, ...rest: Rest): Promise<PageAnswer> => {
      const { visitor } = request
      return visitor === undefined ? { kind: 'redirect', to } : await work({ ...request, visitor }, ...rest)
    }
  return { path, show: orSignIn(show), ...(submit === undefined ? {} : { submit: orSignIn(submit) }) }
}

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
