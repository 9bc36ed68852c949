/** Whether somebody is signed in, and who, as far as the page knows. */

import { signal } from '@preact/signals'

export interface Visitor {
  /** Or the e-mail address of an account without a name. */
  name: string
  role: string | undefined
}

/** True once the account has answered; a session that ends afterwards shows at the next request. */
export const isSignedIn = signal(false)

/** Null: nobody. Undefined: not known, also where another service signs people in. */
export const visitor = signal<Visitor | null | undefined>(undefined)

/** What Auth.js tells of a session; null to who is not signed in. */
export type Session = { user?: { name?: string | null; email?: string | null }; role?: string } | null

export function visitorIn(session: Session): Visitor | null | undefined {
  if (session === null) return null
  const name = session.user?.name ?? session.user?.email ?? undefined
  return name === undefined ? undefined : { name, role: session.role }
}
