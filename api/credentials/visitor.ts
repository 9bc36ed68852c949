/** An account as the frame of pages shows who is signed in. */

import type { Account } from '../../auth/accounts/account.ts'

export function visitorOf({ name, email, role }: Account): { name: string; role: string } {
  return { name: name ?? email, role }
}
