/** Describes the signed-in account in the frame of pages. */

import type { Account } from '../../auth/accounts/account.ts'

export function visitorOf({ name, email, role }: Account): { name: string; role: string } {
  return { name: name ?? email, role }
}
