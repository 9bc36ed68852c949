/** Opens the sign-in of people, the pages and the Auth.js host, unless another service provides it. */

import type { RouteFamily } from '../api/http/route-family.ts'
import { authHostFamily } from '../api/sign-in/auth-host/auth-host.ts'
import { loadAuthJs } from '../api/sign-in/auth-host/auth-js.ts'
import { pagesFamily } from '../api/sign-in/pages/pages.ts'
import { createSetup } from '../auth/accounts/setup.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import type { Config } from './settings/config.ts'

export interface SignIn {
  families: readonly RouteFamily[]
  /** Prints the setup link for the first account while there is no operator. */
  announceSetup(): Promise<void>
}

export interface SignInOptions {
  config: Pick<Config, 'AUTH_HOST' | 'PUBLIC_URL'>
  accounts: Pick<ServiceAccounts, 'service' | 'codec' | 'origins' | 'findPrincipal' | 'publicUrl'>
  directory: Pick<DataDirectory, 'secret'>
  log: Log
}

export async function openSignIn({ config, accounts, directory, log }: SignInOptions): Promise<SignIn> {
  if (config.AUTH_HOST === 'off') return { families: [], announceSetup: async () => undefined }
  const { service, codec, origins, findPrincipal, publicUrl } = accounts
  const csrfSecret = directory.secret('csrf-secret')
  const setup = createSetup(service.accounts, csrfSecret)
  const shared = { service, origins, publicUrl, log }
  return {
    families: [
      pagesFamily({ ...shared, findPrincipal, setup, formSecret: csrfSecret }),
      authHostFamily({ ...shared, codec, csrfSecret, authJs: await loadAuthJs() }),
    ],
    async announceSetup() {
      const token = await setup
        .token()
        .catch((error: unknown) => log.warn({ err: error }, 'no setup link could be made'))
      if (token === undefined) return
      const setupUrl = `${publicUrl()}/setup?token=${token}`
      const elsewhere =
        config.PUBLIC_URL === undefined ? '; for browsers on other machines set HOST and PUBLIC_URL' : ''
      log.info({ setupUrl }, `there is no operator yet: open setupUrl to make that account${elsewhere}`)
    },
  }
}
