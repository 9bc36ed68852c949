/** The account service of this process: opened by the settings, with the secrets of the data directory. */

import type pg from 'pg'
import { type Accounts, openAccounts } from '../auth/accounts/accounts.ts'
import { createPasswords } from '../auth/accounts/passwords.ts'
import { type Keys, openKeys } from '../auth/keys/keys.ts'
import { createMailTransport } from '../auth/mail/mail-transport.ts'
import { createBearerTokens } from '../auth/sessions/bearer-tokens.ts'
import { createSessionCodec, type SessionCodec } from '../auth/sessions/session-codec.ts'
import { createSessions, type Sessions } from '../auth/sessions/sessions.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { accountOperations, accountsFamily, accountsPrefix } from './accounts/accounts.ts'
import { createFindPrincipal, type FindPrincipal } from './accounts/kit/credentials.ts'
import type { PublishedOperations } from './accounts/kit/openapi.ts'
import { createOrigins, type Origins } from './accounts/kit/origins.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { RouteFamily } from './http/route-family.ts'

export interface ServiceAccounts {
  accounts: Accounts
  sessions: Sessions
  keys: Keys
  codec: SessionCodec
  origins: Origins
  findPrincipal: FindPrincipal
  /** For the contract. */
  published: PublishedOperations
  family: RouteFamily
  close(): Promise<void>
}

export interface ServiceAccountsOptions {
  config: Config
  log: Log
  nowMs: Clock
  directory: DataDirectory
  pool: pg.Pool
  /** Under which address people reach the service. */
  publicUrl: () => string
}

const minuteMs = 60_000

export async function openServiceAccounts(options: ServiceAccountsOptions): Promise<ServiceAccounts> {
  const { config, log, nowMs, directory, pool, publicUrl } = options
  const from = () => config.MAIL_FROM ?? `barograph@${new URL(publicUrl()).hostname}`
  const transport = createMailTransport({ smtpUrl: config.SMTP_URL, from, folder: directory.mail, nowMs })
  const accounts = openAccounts({
    ...{ pool, nowMs, log, publicUrl, sendMail: transport.send },
    passwords: await createPasswords(),
  })
  const codec = createSessionCodec({
    format: config.SESSION_FORMAT,
    secrets: config.SESSION_SECRETS ?? [directory.secret('session-secret')],
    isSecure: config.TLS_CERT !== undefined || config.PUBLIC_URL?.startsWith('https:') === true,
    nowMs,
  })
  const tokenLifetimeSeconds = config.TOKEN_MINUTES * 60
  const sessions = createSessions({
    ...{ parts: accounts, codec, log },
    bearer: createBearerTokens(directory.secret('token-secret'), tokenLifetimeSeconds, nowMs),
    refuseUnrevocable: config.SESSION_UNREVOCABLE === 'refuse',
  })
  const keys = openKeys({ parts: accounts })
  const operations = accountOperations({
    ...{ accounts, sessions, keys, codec },
    settings: {
      tokenLifetimeSeconds,
      providers: config.OAUTH_PROVIDERS ?? [],
      registrationsPerHour: config.REGISTRATIONS_PER_HOUR,
      mailRequestsPerHour: config.MAIL_REQUESTS_PER_HOUR,
      deleteWithinMs: config.DELETE_WITHIN_MINUTES * minuteMs,
    },
  })
  const serviceSecret = config.SERVICE_SECRET ?? directory.secret('service-secret')
  const findPrincipal = createFindPrincipal({ sessions, keys, cookieName: codec.cookieName, serviceSecret })
  const origins = createOrigins(() => [new URL(publicUrl()).origin, ...(config.ALLOWED_ORIGINS ?? [])])
  return {
    ...{ accounts, sessions, keys, codec, origins, findPrincipal },
    published: { prefix: accountsPrefix, tag: 'accounts', operations },
    family: accountsFamily(operations, { findPrincipal, origins, log }),
    async close() {
      await keys.close()
      await accounts.close()
      transport.close()
    },
  }
}
