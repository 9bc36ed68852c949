/** One page, declared once: what it shows, and what becomes of the forms that are sent to it. */

import type { Client } from '../../../auth/accounts/account-parts.ts'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'
import type { Html } from '../../http/html.ts'

/** All pages stand beside each other, so that links between them are good below any prefix that a proxy adds. */
export interface Page<Visitor = SignedIn | undefined> {
  /** `/sign-in` */
  path: string
  show(request: PageRequest<Visitor>): Promise<PageAnswer>
  /** Without it, the page takes no forms. */
  submit?(request: PageRequest<Visitor>, form: FormFields): Promise<PageAnswer>
}

export interface PageRequest<Visitor = SignedIn | undefined> {
  /** An argument of the address; undefined where it is missing or comes twice. */
  argument(name: string): string | undefined
  visitor: Visitor
  client: Client
}

/** What stands in the fields of a form that was sent. */
export type FormFields = Readonly<Record<string, string>>

export interface ShownPage {
  kind: 'page'
  status: number
  title: string
  main: Html
  cookies?: readonly string[]
  retryAfterSeconds?: number | undefined
  /** Whether it shows a text to copy. */
  copies?: boolean
}

/** A redirect goes to another page, by its address as seen from this one: `account?done=profile`. */
export type PageAnswer = ShownPage | { kind: 'redirect'; to: string; cookies?: readonly string[] }

/** A page for who is signed in; anybody else signs in first and comes back. */
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
