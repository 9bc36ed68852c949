/** The account service of this process: opened by the settings, with the secrets of the data directory. */

import type { IncomingMessage } from 'node:http'
import type pg from 'pg'
import type { AccountService } from '../api/accounts/account-service.ts'
import { type AccountServices, type AccountsFamily, accountGroups, accountsFamily } from '../api/accounts/accounts.ts'
import type { Drive } from '../api/accounts/drive/drive.ts'
import type { DriveClient } from '../api/accounts/drive/drive-client.ts'
import { createDriveStates } from '../api/accounts/drive/drive-state.ts'
import type { TokenCheck } from '../api/admin/admin-token.ts'
import { createFindPrincipal, type FindPrincipal } from '../api/credentials/find-principal.ts'
import { createOrigins, type Origins } from '../api/credentials/origins.ts'
import { type Accounts, openAccounts } from '../auth/accounts/accounts.ts'
import { createPasswords } from '../auth/accounts/passwords.ts'
import type { Devices } from '../auth/devices/devices.ts'
import { type Keys, openKeys } from '../auth/keys/keys.ts'
import { createMailTransport } from '../auth/mail/mail-transport.ts'
import { authorize } from '../auth/policy.ts'
import { ChangeInDoubt } from '../auth/record-cache.ts'
import { createBearerTokens } from '../auth/sessions/bearer-tokens.ts'
import { createSessionCodec, type SessionCodec } from '../auth/sessions/session-codec.ts'
import { createSessions, type Sessions } from '../auth/sessions/sessions.ts'
import type { Stations } from '../auth/stations/stations.ts'
import { createTenants, type Tenants } from '../auth/tenants/tenants.ts'
import type { Config } from '../settings/config.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { isUnavailable } from '../store/postgres/postgres-errors.ts'
import type { Clock } from './clock.ts'

export interface ServiceAccounts {
  service: AccountService
  accounts: Accounts
  sessions: Sessions
  keys: Keys
  codec: SessionCodec
  tenants: Tenants
  publicUrl: () => string
  origins: Origins
  findPrincipal: FindPrincipal
  /** Whether an administrator asks; nobody is one while that cannot be looked up. */
  isAdministrator: (request: IncomingMessage) => Promise<boolean>
  family: AccountsFamily
  close(): Promise<void>
}

export interface ServiceAccountsOptions {
  config: Config
  log: Log
  nowMs: Clock
  directory: DataDirectory
  pool: pg.Pool
  devices: Pick<Devices, 'withHandOver'>
  stations: Pick<Stations, 'withHandOver'>
  /** Whether a request has the local admin token. */
  isAdminToken: TokenCheck
  /** Under which address people reach the service. */
  publicUrl: () => string
}

const minuteMs = 60_000

export async function openServiceAccounts(options: ServiceAccountsOptions): Promise<ServiceAccounts> {
  const { config, log, nowMs, directory, pool, devices, stations, isAdminToken, publicUrl } = options
  const from = () => config.MAIL_FROM ?? `barograph@${new URL(publicUrl()).hostname}`
  const transport = createMailTransport({ smtpUrl: config.SMTP_URL, from, folder: directory.mail, nowMs })
  const accounts = openAccounts({
    pool,
    nowMs,
    log,
    devices,
    stations,
    publicUrl,
    sendMail: transport.send,
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
    parts: accounts,
    codec,
    log,
    bearer: createBearerTokens(directory.secret('token-secret'), tokenLifetimeSeconds, nowMs),
    refuseUnrevocable: config.SESSION_UNREVOCABLE === 'refuse',
  })
  const keys = openKeys({ parts: accounts })
  const tenants = createTenants({
    parts: accounts,
    secret: directory.secret('tenant-key'),
    graceMs: config.ROTATION_GRACE_HOURS * 60 * minuteMs,
  })
  const service: AccountServices = {
    accounts,
    sessions,
    keys,
    codec,
    tenants,
    publicUrl,
    drive: openDrive(config, directory, nowMs),
    settings: {
      signUp: config.SIGN_UP,
      tokenLifetimeSeconds,
      providers: config.OAUTH_PROVIDERS ?? [],
      registrationsPerHour: config.REGISTRATIONS_PER_HOUR,
      mailRequestsPerHour: config.MAIL_REQUESTS_PER_HOUR,
      deleteWithinMs: config.DELETE_WITHIN_MINUTES * minuteMs,
    },
  }
  const serviceSecret = config.SERVICE_SECRET ?? directory.secret('service-secret')
  const credentials = { sessions, keys, cookieName: codec.cookieName, serviceSecret, isAdminToken }
  const findPrincipal = createFindPrincipal(credentials)
  const origins = createOrigins(() => [new URL(publicUrl()).origin, ...(config.ALLOWED_ORIGINS ?? [])])
  return {
    service,
    accounts,
    sessions,
    keys,
    codec,
    tenants,
    publicUrl,
    origins,
    findPrincipal,
    isAdministrator: createAdministratorCheck(findPrincipal),
    family: accountsFamily(accountGroups(service), { findPrincipal, origins, log }),
    async close() {
      await keys.close()
      await accounts.close()
      transport.close()
    },
  }
}

function createAdministratorCheck(findPrincipal: FindPrincipal): ServiceAccounts['isAdministrator'] {
  return async request => {
    try {
      return authorize('admin', await findPrincipal(request)) === 'allowed'
    } catch (error) {
      if (isUnavailable(error) || error instanceof ChangeInDoubt) return false
      throw error
    }
  }
}

function openDrive(config: Config, directory: DataDirectory, nowMs: Clock): Drive {
  const name = config.DRIVE_NAME
  return {
    name,
    client: driveClientOf(config),
    states: createDriveStates(directory.secret('state-secret'), name, nowMs),
  }
}

/** Its settings are there all together, or not at all. */
function driveClientOf(config: Config): DriveClient | undefined {
  const { DRIVE_CLIENT_ID: clientId, DRIVE_CLIENT_SECRET: clientSecret, DRIVE_SCOPE: scope } = config
  const {
    DRIVE_AUTHORIZATION_URL: authorizationUrl,
    DRIVE_TOKEN_URL: tokenUrl,
    DRIVE_OPENER_ORIGIN: openerOrigin,
  } = config
  if (clientId === undefined || clientSecret === undefined || authorizationUrl === undefined) return undefined
  if (tokenUrl === undefined || openerOrigin === undefined) return undefined
  return { clientId, clientSecret, authorizationUrl, tokenUrl, scope, openerOrigin }
}
