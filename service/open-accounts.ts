/** Opens the account service of this process from the settings and the secrets of the data directory. */

import type pg from 'pg'
import type { AccountService } from '../api/accounts/account-service.ts'
import { type AccountServices, type AccountsFamily, accountGroups, accountsFamily } from '../api/accounts/accounts.ts'
import type { TokenCheck } from '../api/admin/admin-token.ts'
import { type Accounts, openAccounts } from '../auth/accounts/accounts.ts'
import { createPasswords } from '../auth/accounts/passwords.ts'
import type { Devices } from '../auth/devices/devices.ts'
import { type Keys, openKeys } from '../auth/keys/keys.ts'
import { createMailTransport, type MailTransport } from '../auth/mail/mail-transport.ts'
import { type ChangeFeed, requireCurrent } from '../auth/nodes/change-feed.ts'
import type { Stations } from '../auth/stations/stations.ts'
import { createTenants, type Tenants } from '../auth/tenants/tenants.ts'
import { openViewLinks } from '../auth/views/links.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import type { Clock } from './clock.ts'
import { openDrive } from './open-drive.ts'
import {
  createDeviceOf,
  createRequestIdentity,
  openSessions,
  type RequestIdentity,
  type ServiceSessions,
  tokenLifetimeSecondsOf,
} from './open-sessions.ts'
import type { Config } from './settings/config.ts'

export interface ServiceAccounts extends ServiceSessions, RequestIdentity {
  service: AccountService
  accounts: Accounts
  keys: Keys
  tenants: Tenants
  publicUrl: () => string
  sendMail: MailTransport['send']
  removeMails: MailTransport['removeWritten']
  family: AccountsFamily
  close(): Promise<void>
}

export interface ServiceAccountsOptions {
  config: Config
  log: Log
  nowMs: Clock
  directory: DataDirectory
  pool: pg.Pool
  devices: Pick<Devices, 'withHandOver' | 'get'>
  stations: Pick<Stations, 'withHandOver'>
  feed: ChangeFeed
  /** True if this process runs the work that one node does for all. */
  leads: () => boolean
  isAdminToken: TokenCheck
  /** Public address of the service. */
  publicUrl: () => string
}

const minuteMs = 60_000

export function openServiceAccounts(options: ServiceAccountsOptions): ServiceAccounts {
  const { config, log, nowMs, directory, pool, devices, stations, feed, leads, isAdminToken, publicUrl } = options
  const from = () => config.MAIL_FROM ?? `barograph@${new URL(publicUrl()).hostname}`
  const transport = createMailTransport({ smtpUrl: config.SMTP_URL, from, folder: directory.mail, nowMs })
  const accounts = openAccounts({
    pool,
    nowMs,
    log,
    devices,
    stations,
    feed,
    leads,
    publicUrl,
    sendMail: transport.send,
    passwords: createPasswords(),
  })
  const { sessions, codec } = openSessions(options, accounts)
  const keys = openKeys({ parts: accounts })
  const viewLinks = openViewLinks({ parts: accounts, deviceOf: createDeviceOf(config.READS === 'open', devices) })
  const tenants = createTenants({
    parts: accounts,
    secret: directory.secret('tenant-key'),
    graceMs: config.ROTATION_GRACE_HOURS * 60 * minuteMs,
  })
  const service: AccountServices = {
    accounts,
    sessions,
    keys,
    viewLinks,
    codec,
    tenants,
    publicUrl,
    drive: openDrive(config, directory, nowMs),
    settings: {
      signUp: config.SIGN_UP,
      tokenLifetimeSeconds: tokenLifetimeSecondsOf(config),
      providers: config.OAUTH_PROVIDERS ?? [],
      registrationsPerHour: config.REGISTRATIONS_PER_HOUR,
      mailRequestsPerHour: config.MAIL_REQUESTS_PER_HOUR,
      sendsMail: config.SMTP_URL !== undefined,
      reads: config.READS,
      embedOrigins: config.EMBED_ORIGINS ?? [],
      deleteWithinMs: config.DELETE_WITHIN_MINUTES * minuteMs,
    },
  }
  const serviceSecret = config.SERVICE_SECRET ?? directory.secret('service-secret')
  const credentials = {
    sessions,
    keys,
    viewLinks,
    cookieName: codec.cookieName,
    serviceSecret,
    isAdminToken,
    requireCurrent: () => requireCurrent(feed),
  }
  const allowedOrigins = config.ALLOWED_ORIGINS ?? []
  const identity = createRequestIdentity({ credentials, publicUrl, allowedOrigins })
  return {
    service,
    accounts,
    sessions,
    keys,
    codec,
    tenants,
    publicUrl,
    sendMail: transport.send,
    removeMails: transport.removeWritten,
    ...identity,
    family: accountsFamily(accountGroups(service), { ...identity, log }),
    async close() {
      await keys.close()
      await accounts.close()
      transport.close()
    },
  }
}
