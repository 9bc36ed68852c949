/** The current session as far as the page knows it, and the role that decides on controls of a page. */

import { signal } from '@preact/signals'
import type { AccountDetails } from '../../auth/accounts/account-details.ts'
import { t } from '../words/words.ts'
import { addressOf } from './address.ts'
import { useResource } from './use-resource.ts'

interface Visitor {
  /** The e-mail address of an account without a name. */
  name: string
  role: string | undefined
}

/** True once the account has answered. A session that ends afterwards shows at the next request. */
export const isSignedIn = signal(false)

/** Null: no session. Undefined: unknown, also where another service signs people in. */
export const visitor = signal<Visitor | null | undefined>(undefined)

/** Names of roles, and of a user who may only read. */
export const roleNames: Readonly<Record<string, string>> = {
  operator: t('operator'),
  administrator: t('administrator'),
  user: t('user'),
  viewer: t('viewer'),
}

/** A session of Auth.js; null without one. */
export type Session = { user?: { name?: string | null; email?: string | null }; role?: string } | null

export function visitorIn(session: Session): Visitor | null | undefined {
  if (session === null) return null
  const name = session.user?.name ?? session.user?.email ?? undefined
  return name === undefined ? undefined : { name, role: session.role }
}

/** Whom alone some changes are allowed. */
export function useIsOperator(): boolean {
  return useRole() === 'operator'
}

/** The operator, too. */
export function useIsAdministrator(): boolean {
  const role = useRole()
  return role === 'administrator' || role === 'operator'
}

/**
 * Undefined until it is known. The profile lacks the role, so the admin API is asked. A refusal means that the account
 * is not an administrator's.
 */
function useRole(): AccountDetails['role'] | undefined {
  const me = useResource<{ id: number }>(addressOf('/v1/auth/me'))
  const path = me.kind === 'ready' ? addressOf(`/api/admin/accounts/${me.value.id}`) : undefined
  const account = useResource<AccountDetails>(path)
  return account.kind === 'ready' ? account.value.role : undefined
}
