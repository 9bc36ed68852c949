/** Names principals in the audit. */

import { subjectOf } from './accounts/account.ts'
import type { Principal } from './policy.ts'

const localAdmin = 'local admin token'

export function actorOf(principal: Principal): string {
  switch (principal.kind) {
    case 'session':
    case 'bearer':
      return subjectOf(principal.account.id)
    case 'key':
      return `key ${principal.keyId} of ${subjectOf(principal.account.id)}`
    case 'view-link':
      return `link ${principal.link.id} of ${subjectOf(principal.owner.id)}`
    case 'service':
      return 'service secret'
    case 'admin-token':
      return localAdmin
  }
}
