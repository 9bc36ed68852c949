/** The account service on a real PostgreSQL, with a clock that the test sets and its own mail server. */

import { hash, type Options, verify } from '@node-rs/argon2'
import type { AccountService } from '../../api/accounts/account-service.ts'
import { accountGroups, accountsFamily } from '../../api/accounts/accounts.ts'
import { createDriveStates, type DriveClient } from '../../api/accounts/drive/drive-client.ts'
import { accountsPrefix } from '../../api/accounts/kit/operation.ts'
import { createTokenCheck } from '../../api/admin/admin-token.ts'
import { createFindPrincipal } from '../../api/credentials/find-principal.ts'
import { createOrigins } from '../../api/credentials/origins.ts'
import type { Account } from '../../auth/accounts/account.ts'
import { openAccounts } from '../../auth/accounts/accounts.ts'
import { createPasswords, type Passwords } from '../../auth/accounts/passwords.ts'
import { type Devices, openDevices } from '../../auth/devices/devices.ts'
import { type Keys, openKeys } from '../../auth/keys/keys.ts'
import type { Mail } from '../../auth/mail/templates.ts'
import { createBearerTokens, createSessionCodec, type SessionFormat } from '../../auth/sessions/session-codec.ts'
import { insertSession } from '../../auth/sessions/session-rows.ts'
import { createSessions } from '../../auth/sessions/sessions.ts'
import { openStations } from '../../auth/stations/stations.ts'
import { createTenants } from '../../auth/tenants/tenants.ts'
import { openViewLinks } from '../../auth/views/links.ts'
import { createDeviceOf } from '../../service/open-sessions.ts'
import type { Log } from '../../store/log.ts'
import type { Store } from '../../store/store.ts'
import { createApp, createAsk } from './app.ts'
import { valueIn } from './changed.ts'
import { closing, nowhere, recordingLog, startDatabases, type TestHooks } from './databases.ts'
import { holdToContract } from './held-answers.ts'
import { waitFor } from './wait-for.ts'

export const publicUrl = 'https://barograph.example'
export const sessionSecret = 'x8Jw2mPq5vN0rT7yB4cL9zK1sH6dF3gA0eU2iO5pQ8w='
export const serviceSecret = 'service-0123456789abcdef0123456789abcdef0123456789'
export const adminToken = 'a'.repeat(64)
export const perOwner = { user: 100, administrator: 10_000, operator: 10_000 }
export const goodPassword = 'correct horse battery'

export type AccountsUnderTest = Awaited<ReturnType<typeof openVariant>>

type KeyWanted = Parameters<Keys['create']>[1]

export interface Variant {
  format?: SessionFormat
  secrets?: string[]
  refuseUnrevocable?: boolean
  settings?: Partial<AccountService['settings']>
  drive?: DriveClient
  /** True if browsers use HTTPS. */
  isSecure?: boolean
  /** The registry of the same database, where there is one already. */
  devices?: Devices
}

export async function startAccounts(t: TestHooks, variant: Variant = {}) {
  const { store } = await startDatabases(t, nowhere)
  return await openVariant(t, store, variant)
}

/** Another one on the same database. */
export async function openVariant(t: TestHooks, store: Store, variant: Variant = {}) {
  const clock = { ms: Date.now() }
  const mails: Mail[] = []
  const { passwords, hashings } = createCheapPasswords()
  const { log, texts: warnings } = recordingLog('warn')
  const sendMail = async (mail: Mail) => void mails.push(mail)
  const opened = await openParts({ t, store, passwords, log, sendMail, nowMs: () => clock.ms }, variant)
  const { app, accounts, sessions, keys, codec } = opened

  const ask = createAsk(app, accountsPrefix)

  /** Registers a person, whose address is verified by default. */
  async function person(email: string, { isUnverified = false } = {}): Promise<number> {
    const id = await register(ask, email)
    if (!isUnverified) await set(id, { email_verified_at: new Date(clock.ms) })
    return id
  }

  /** Sets columns of an account. */
  async function set(id: number, columns: Record<string, unknown>): Promise<void> {
    const assignments = Object.keys(columns).map((name, at) => `${name} = $${at + 2}`)
    const text = `UPDATE accounts SET ${assignments.join()} WHERE id = $1`
    await accounts.memory.change(id, () => store.postgres.query(text, [id, ...Object.values(columns)]))
  }

  async function account(id: number): Promise<Account> {
    const found = await accounts.find(id)
    if (found === undefined) throw new Error('no such account')
    return found
  }

  /** The Cookie header of a session as the Auth.js host makes it. */
  async function cookieOf(id: number): Promise<{ cookie: string; sid: string }> {
    const sid = await accounts.memory.change(id, () =>
      insertSession(store.postgres, {
        accountId: id,
        kind: 'cookie',
        nowMs: clock.ms,
        lifetimeMs: sessions.cookieLifetimeMs,
        address: '127.0.0.1',
        userAgent: undefined,
      }),
    )
    const { token } = await sessions.issueCookie(await account(id), { sid, createdMs: clock.ms })
    return { cookie: `${codec.cookieName}=${token}`, sid }
  }

  async function makeKey(id: number, more?: Partial<KeyWanted>) {
    const wanted: KeyWanted = { name: 'test', scopes: ['ingest'], createDevices: false, expiresInDays: undefined }
    return valueIn(await keys.create(await account(id), { ...wanted, ...more }))
  }

  /** The token in the newest mail of this subject. */
  async function tokenIn(subject: RegExp, to: string): Promise<string> {
    const find = () => mails.findLast(mail => mail.to === to && subject.test(mail.subject))
    await waitFor('the mail is sent', () => find() !== undefined)
    return /\?token=([\w-]+)/.exec(find()?.text ?? '')?.[1] ?? ''
  }

  return {
    ...opened,
    store,
    mails,
    warnings,
    clock,
    ask,
    person,
    set,
    account,
    makeKey,
    /** The text of a new API key. */
    keyOf: async (id: number, more?: Partial<KeyWanted>) => (await makeKey(id, more)).text,
    cookieOf,
    tokenIn,
    /** Counts the hashes and verifications of passwords. */
    hashings,
  }
}

async function register(ask: ReturnType<typeof createAsk>, email: string): Promise<number> {
  const attempt = () => ask('POST', '/register', { body: { email, password: goodPassword } })
  let answer = await attempt()
  // PostgreSQL may take longer than its time limit on a busy machine.
  while (answer.status === 503) answer = await attempt()
  if (answer.status !== 201) throw new Error(answer.text)
  return Number(answer.body['id'])
}

function createCheapPasswords() {
  let count = 0
  function counted<Value>(work: Promise<Value>): Promise<Value> {
    count += 1
    return work
  }
  const passwords = createPasswords({
    hash: (password, options) => counted(hashCheaply(password, options)),
    verify: (known, password) => counted(verify(known.replace(usualCost, lowCost), password)),
    close: async () => undefined,
  })
  return { passwords, hashings: () => count }
}

const usualCost = 'm=19456,t=2,p=1'
const lowCost = 'm=8,t=1,p=1'

/** Argon2id with the least memory, under the name of the usual parameters: a hash of those takes 25 ms. */
async function hashCheaply(password: string, options: Options): Promise<string> {
  return (await hash(password, { ...options, memoryCost: 8, timeCost: 1 })).replace(lowCost, usualCost)
}

interface Surroundings {
  t: TestHooks
  store: Store
  passwords: Passwords
  log: Log
  sendMail: (mail: Mail) => Promise<void>
  nowMs: () => number
}

async function openParts({ t, store, passwords, log, sendMail, nowMs }: Surroundings, variant: Variant) {
  const pool = store.postgres
  const devices = variant.devices ?? (await openDevices({ pool, now: nowMs, log, graceMs: 3_600_000 }))
  if (variant.devices === undefined) t.teardown(() => devices.close())
  const stations = closing(t, openStations({ pool, nowMs, log }))
  const accounts = openAccounts({
    pool,
    nowMs,
    log,
    passwords,
    devices,
    stations,
    publicUrl: () => publicUrl,
    sendMail,
  })
  t.teardown(() => accounts.close())
  const { format = 'jwe-v5', secrets = [sessionSecret], refuseUnrevocable = false, isSecure = true } = variant
  const codec = createSessionCodec({ format, secrets, isSecure, nowMs })
  const bearer = createBearerTokens('b'.repeat(64), 1800, nowMs)
  const sessions = createSessions({ parts: accounts, codec, bearer, log, refuseUnrevocable })
  const keys = closing(t, openKeys({ parts: accounts, flushMs: 1_000_000 }))
  const viewLinks = openViewLinks({ parts: accounts, deviceOf: createDeviceOf(false, devices) })
  const settings = {
    signUp: 'open' as const,
    providers: ['github'],
    tokenLifetimeSeconds: 1800,
    registrationsPerHour: 1000,
    mailRequestsPerHour: 10,
    sendsMail: true,
    reads: 'open' as const,
    embedOrigins: [],
    deleteWithinMs: 3_600_000,
    ...variant.settings,
  }
  const states = createDriveStates('d'.repeat(64), 'google-drive', nowMs)
  const service: AccountService = { accounts, sessions, keys, viewLinks, codec, settings }
  const tenants = createTenants({ parts: accounts, secret: 't'.repeat(64), graceMs: 3_600_000 })
  const groups = accountGroups({
    ...service,
    tenants,
    publicUrl: () => publicUrl,
    drive: { name: 'google-drive', client: variant.drive, states },
  })
  const isAdminToken = createTokenCheck(adminToken)
  const credentials = { sessions, keys, viewLinks, cookieName: codec.cookieName, serviceSecret, isAdminToken }
  const findPrincipal = createFindPrincipal(credentials)
  const origins = createOrigins(() => [publicUrl, 'https://app.example'])
  const family = accountsFamily(groups, { findPrincipal, origins, log })
  const { operations } = family
  const app = createApp(family)
  holdToContract(t, app)
  t.teardown(() => app.close())
  await app.ready()
  return { app, service, operations, accounts, sessions, keys, codec, tenants, stations, findPrincipal, origins }
}
