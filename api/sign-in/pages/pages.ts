/**
 * The pages on which people sign in and manage their accounts. They need no script: a form is sent, and what comes back
 * is another page, or the form with what was wrong. What is done stands in auth/, as for the operations of api/accounts/.
 */

import type { Setup } from '../../../auth/accounts/setup.ts'
import { endSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import type { RouteFamily } from '../../http/route-family.ts'
import { accountPageOf } from './account.ts'
import { devicePage } from './device.ts'
import type { Page } from './page.ts'
import { resetPage } from './reset.ts'
import { type ServeOptions, servePages } from './serve-pages.ts'
import { setupPage } from './setup.ts'
import { signInPage } from './sign-in.ts'
import { signUpPage } from './sign-up.ts'
import { verifyPage } from './verify.ts'
import { homePage } from './visits.ts'

export interface PagesOptions extends Omit<ServeOptions, 'sessions' | 'codec'> {
  service: AccountService
  setup: Setup
  /** Of the tokens in forms. */
  formSecret: string
}

export function pagesFamily(options: PagesOptions): RouteFamily {
  const { service, setup, formSecret, publicUrl } = options
  const { sessions, codec } = service
  const pages: Page[] = [
    signInPage(service, publicUrl),
    signOutPage(service),
    signUpPage(service),
    setupPage(service, setup),
    verifyPage(service),
    resetPage(service),
    accountPageOf(service),
    devicePage(service, formSecret),
  ]
  return { prefix: '', published: [], register: scope => servePages(scope, pages, { ...options, sessions, codec }) }
}

/** Signing out: a button on the page of the account. */
function signOutPage({ sessions, codec: { cookieName, isSecure } }: AccountService): Page {
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
