/** Resolves owners of devices and stations in requests: an account by its id, or an ordinary account by its address. */

import { emailKeyOf } from '../../auth/accounts/email-address.ts'
import type { OwnerName } from '../../auth/devices/device.ts'

/** Ids of ordinary accounts by the keys of their addresses. */
export type FindAccounts = (emails: readonly string[]) => Promise<Map<string, number>>

export type OwnerIds = { ok: true; ids: (number | null)[] } | { ok: false; unknownAt: number[] }

/** The insert checks whether an account with the id exists. */
export async function ownerIdsOf(owners: readonly (OwnerName | null)[], findAccounts: FindAccounts): Promise<OwnerIds> {
  const emails = new Set(owners.filter(owner => typeof owner === 'string'))
  const found = emails.size === 0 ? undefined : await findAccounts([...emails])
  const ids = owners.map(owner => (typeof owner === 'string' ? found?.get(emailKeyOf(owner)) : owner))
  const unknownAt = ids.flatMap((id, at) => (id === undefined ? [at] : []))
  return unknownAt.length > 0 ? { ok: false, unknownAt } : { ok: true, ids: ids.map(id => id ?? null) }
}
