/** Signing out: a button on the page of the account. */

import { endSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import type { Page } from './page.ts'
import { homePage } from './visits.ts'

export function signOutPage({ sessions, codec: { cookieName, isSecure } }: AccountService): Page {
  return {
    path: '/sign-out',
    // Opening an address ends nothing.
    show: async () => ({ kind: 'redirect', to: homePage }),
    async submit({ visitor }) {
      if (visitor?.sid !== undefined) await sessions.revoke(visitor.account, visitor.sid)
      return { kind: 'redirect', to: 'sign-in?done=signed-out', cookies: endSessionCookie(cookieName, isSecure) }
    },
  }
}
