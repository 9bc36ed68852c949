/**
 * Serves the pages for sign-in and accounts. They work without a script: a form's answer is another page, or the form
 * with its errors. auth/ carries the actions out, as for api/accounts/.
 */

import type { Setup } from '../../../auth/accounts/setup.ts'
import { endSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import type { RouteFamily } from '../../http/route-family.ts'
import { accountPageOf } from './account.ts'
import { devicePage } from './device.ts'
import { homePage, type Page } from './page.ts'
import { resetPage } from './reset.ts'
import { type ServeOptions, servePages } from './serve-pages.ts'
import { setupPage } from './setup.ts'
import { signInPage } from './sign-in.ts'
import { signUpPage } from './sign-up.ts'
import { verifyPage } from './verify.ts'

export interface PagesOptions extends Omit<ServeOptions, 'sessions' | 'codec'> {
  service: AccountService
  setup: Setup
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

/** Signs out, by a button on the account page. */
function signOutPage({ sessions, codec: { cookieName, isSecure } }: AccountService): Page {
  return {
    path: '/sign-out',
    // Opening the address does not sign out.
    show: async () => ({ kind: 'redirect', to: homePage }),
    async submit({ visitor }) {
      if (visitor?.sid !== undefined) await sessions.revoke(visitor.account, visitor.sid)
      return { kind: 'redirect', to: 'sign-in?done=signed-out', cookies: endSessionCookie(cookieName, isSecure) }
    },
  }
}
