/** Opens the sessions of people, cookies and bearer tokens, by the settings. */

import type { Accounts } from '../auth/accounts/accounts.ts'
import { createBearerTokens } from '../auth/sessions/bearer-tokens.ts'
import { createSessionCodec, type SessionCodec } from '../auth/sessions/session-codec.ts'
import { createSessions, type Sessions } from '../auth/sessions/sessions.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
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
