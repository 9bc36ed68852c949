/** The role of the signed-in person, if it decides on controls of a page. */

import type { AccountDetails } from '../../auth/accounts/account-details.ts'
import { addressOf } from './address.ts'
import { useResource } from './use-resource.ts'

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
