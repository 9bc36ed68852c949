/** Opens the sessions of people, cookies and bearer tokens, and identifies the principal of a request. */

import type { IncomingMessage } from 'node:http'
import {
  type CredentialOptions,
  createFindPrincipal,
  type FindPrincipal,
  visitorOf,
} from '../api/credentials/find-principal.ts'
import { createOrigins, type Origins } from '../api/credentials/origins.ts'
import type { FindVisitor } from '../api/http/page-document.ts'
import type { FindStart } from '../api/web/start-page.ts'
import type { Account } from '../auth/accounts/account.ts'
import type { Accounts } from '../auth/accounts/accounts.ts'
import type { Device } from '../auth/devices/device.ts'
import type { Devices } from '../auth/devices/devices.ts'
import { createScopeCheck } from '../auth/devices/selector.ts'
import { authorize, readScopeOfAccount } from '../auth/policy.ts'
import { ChangeInDoubt } from '../auth/record-cache.ts'
import { createBearerTokens, createSessionCodec, type SessionCodec } from '../auth/sessions/session-codec.ts'
import { createSessions, type Sessions } from '../auth/sessions/sessions.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { isUnavailable } from '../store/postgres/postgres-errors.ts'
import type { Clock } from './clock.ts'
import type { Config } from './settings/config.ts'

export interface ServiceSessions {
  sessions: Sessions
  codec: SessionCodec
}

interface ServiceSessionsOptions {
  config: Config
  log: Log
  nowMs: Clock
  directory: DataDirectory
}

export const tokenLifetimeSecondsOf = ({ TOKEN_MINUTES }: Config): number => TOKEN_MINUTES * 60

export function openSessions(
  { config, log, nowMs, directory }: ServiceSessionsOptions,
  accounts: Accounts,
): ServiceSessions {
  const codec = createSessionCodec({
    format: config.SESSION_FORMAT,
    secrets: config.SESSION_SECRETS ?? [directory.secret('session-secret')],
    isSecure: config.TLS_CERT !== undefined || config.PUBLIC_URL?.startsWith('https:') === true,
    nowMs,
  })
  const sessions = createSessions({
    parts: accounts,
    codec,
    log,
    bearer: createBearerTokens(directory.secret('token-secret'), tokenLifetimeSecondsOf(config), nowMs),
    refuseUnrevocable: config.SESSION_UNREVOCABLE === 'refuse',
  })
  return { sessions, codec }
}

export interface RequestIdentity {
  origins: Origins
  findPrincipal: FindPrincipal
  isAdministrator: AdministratorCheck
  /** Finds the signed-in account for the frame of pages. */
  findVisitor: FindVisitor
  /** Finds the start page of the signed-in account. */
  findStart: FindStart
}

interface RequestIdentityOptions {
  credentials: CredentialOptions
  /** Public address of the service. */
  publicUrl: () => string
  /** Origins besides the service's own. */
  allowedOrigins: readonly string[]
}

export function createRequestIdentity(options: RequestIdentityOptions): RequestIdentity {
  const { credentials, publicUrl, allowedOrigins } = options
  const findPrincipal = createFindPrincipal(credentials)
  return {
    origins: createOrigins(() => [new URL(publicUrl()).origin, ...allowedOrigins]),
    findPrincipal,
    isAdministrator: createAdministratorCheck(findPrincipal),
    async findVisitor(request) {
      const principal = await findPrincipal(request).catch(undefinedWhileUnavailable)
      return principal?.kind === 'session' ? visitorOf(principal.account) : null
    },
    async findStart(request) {
      const principal = await findPrincipal(request).catch(undefinedWhileUnavailable)
      return principal?.kind === 'session' ? (principal.account.startAddress ?? undefined) : undefined
    },
  }
}

/** Pages without required sign-in are shown without PostgreSQL, too. */
function undefinedWhileUnavailable(error: unknown): undefined {
  if (!isUnavailable(error) && !(error instanceof ChangeInDoubt)) throw error
}

type AdministratorCheck = (request: IncomingMessage) => Promise<boolean>

/** While PostgreSQL is unavailable, requests count as non-administrators. */
function createAdministratorCheck(findPrincipal: FindPrincipal): AdministratorCheck {
  return async request => {
    try {
      return authorize('admin', await findPrincipal(request)) === 'allowed'
    } catch (error) {
      if (isUnavailable(error) || error instanceof ChangeInDoubt) return false
      throw error
    }
  }
}

/** `isOpen`: everybody may read all devices. */
export function createDeviceOf(isOpen: boolean, devices: Pick<Devices, 'get'>) {
  return (account: Account, name: string): Device | undefined => {
    const device = devices.get(name)
    if (device === undefined || isOpen) return device
    const scope = readScopeOfAccount(account)
    return scope !== 'EMAIL_UNVERIFIED' && createScopeCheck(scope)(device) ? device : undefined
  }
}
