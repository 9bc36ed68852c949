/** The current session as far as the page knows it. */

import { signal } from '@preact/signals'

export interface Visitor {
  /** The e-mail address of an account without a name. */
  name: string
  role: string | undefined
}

/** True once the account has answered. A session that ends afterwards shows at the next request. */
export const isSignedIn = signal(false)

/** Null: no session. Undefined: unknown, also where another service signs people in. */
export const visitor = signal<Visitor | null | undefined>(undefined)

/** A session of Auth.js; null without one. */
export type Session = { user?: { name?: string | null; email?: string | null }; role?: string } | null

export function visitorIn(session: Session): Visitor | null | undefined {
  if (session === null) return null
  const name = session.user?.name ?? session.user?.email ?? undefined
  return name === undefined ? undefined : { name, role: session.role }
}
