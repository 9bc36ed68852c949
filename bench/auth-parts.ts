/** The account parts on a database, for the processes of `bench/auth.ts` and `auth-server.ts`. */

import type { ChildProcess } from 'node:child_process'
import type pg from 'pg'
import { type Accounts, openAccounts } from '../auth/accounts/accounts.ts'
import { createPasswords } from '../auth/accounts/passwords.ts'
import { openDevices } from '../auth/devices/devices.ts'
import { createBearerTokens, createSessionCodec, type SessionCodec } from '../auth/sessions/session-codec.ts'
import { createSessions, type Sessions } from '../auth/sessions/sessions.ts'
import { openStations } from '../auth/stations/stations.ts'
import { silentLog } from '../test/support/databases.ts'
import type { Bounds } from './bounds.ts'
import type { Hooks } from './measure.ts'

export const sessionSecret = 's'.repeat(64)

interface AuthParts {
  accounts: Accounts
  codec: SessionCodec
  /** Each with nothing in its cache. */
  createSessions(): Sessions
  close(): Promise<void>
}

export async function openAuthParts(pool: pg.Pool): Promise<AuthParts> {
  const shared = { pool, nowMs: Date.now, log: silentLog }
  const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 0 })
  const stations = openStations(shared)
  const publicUrl = () => 'http://127.0.0.1'
  const passwords = createPasswords()
  const accounts = openAccounts({
    ...shared,
    devices,
    stations,
    passwords,
    publicUrl,
    sendMail: async () => undefined,
  })
  const codec = createSessionCodec({ format: 'jwe-v5', secrets: [sessionSecret], isSecure: false, nowMs: Date.now })
  const bearer = createBearerTokens('b'.repeat(64), 1800, Date.now)
  return {
    accounts,
    codec,
    createSessions: () => createSessions({ parts: accounts, codec, bearer, log: silentLog, refuseUnrevocable: false }),
    async close() {
      await accounts.close()
      await stations.close()
      await devices.close()
    },
  }
}

/** Shared parts of `bench/auth.ts`. */
export interface AuthPlan {
  hooks: Hooks
  bounds: Bounds
  generator: ChildProcess
  connections: number
  pairs: number
  /** The duration of each measurement under load. */
  seconds: number
}
