/** Whether the operator is signed in, whom alone some changes are allowed. */

import type { AccountDetails } from '../../auth/accounts/account-details.ts'
import { addressOf } from './address.ts'
import { useResource } from './use-resource.ts'

/** False until it is known. The profile does not tell the role; to whom the API of administrators tells nothing is not one. */
export function useIsOperator(): boolean {
  const me = useResource<{ id: number }>(addressOf('/v1/auth/me'))
  const path = me.kind === 'ready' ? addressOf(`/api/admin/accounts/${me.value.id}`) : undefined
  const account = useResource<AccountDetails>(path)
  return account.kind === 'ready' && account.value.role === 'operator'
}
