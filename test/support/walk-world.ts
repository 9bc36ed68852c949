/**
 * A model of what people, keys, devices, stations and partners of a service may do. Each step is made at one node; what the model
 * says afterwards has to hold at each.
 */

import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Random } from '../faults/seeded-random.ts'
import { basicOf } from './air-quality.ts'
import { publicUrl } from './nodes.ts'
import { basic, type Service } from './service.ts'

/** Something that can be tried at any node, with the status that has to come back. */
interface Attempt {
  name: string
  expected: number
  try(url: string): Promise<number>
}

interface Account {
  id: number
  email: string
  password: string
  isActive: boolean
  isAdministrator: boolean
  /** Bearer tokens, with whether their sessions go on. */
  sessions: { token: string; goesOn: boolean }[]
  /** One that was given `admin` has no scope left once its owner was demoted, whatever the owner becomes afterwards. */
  keys: { id: number; text: string; scope: 'admin' | 'read' | undefined; isRevoked: boolean }[]
}

interface Device {
  name: string
  /** The last one is good. */
  passwords: string[]
  isOn: boolean
  isRemoved: boolean
}

interface Station {
  sn: string
  isPrivate: boolean
  isRemoved: boolean
}

interface Tenant {
  slug: string
  /** The last one is good. */
  secrets: string[]
  isActive: boolean
  bearers: string[]
}

export type Step = (node: Service) => Promise<void>

const accountsMax = 6
const devicesMax = 10
const stationsMax = 6
const tenantsMax = 3

export class WalkWorld {
  readonly #random: Random
  readonly #accounts: Account[] = []
  readonly #devices: Device[] = []
  readonly #stations: Station[] = []
  readonly #tenants: Tenant[] = []
  /** Whose key reads stations. */
  #readerKey = ''
  #ownerId = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** What the others need: an administrator who stays, and an owner of stations whom nobody signs in as. */
  async begin(node: Service): Promise<void> {
    const [owner, reader] = [await addAccount(node, 'administrator'), await addAccount(node, 'user')]
    this.#ownerId = owner.id
    this.#readerKey = (await addKey(node, reader.id, ['read'])).text
  }

  /** A step that changes something, by name. */
  step(): [name: string, step: Step] {
    const [account, device] = [this.#pick(this.#accounts), this.#pick(this.#devices.filter(each => !each.isRemoved))]
    const [station, tenant] = [this.#pick(this.#stations.filter(each => !each.isRemoved)), this.#pick(this.#tenants)]
    const steps: [string, Step][] = []
    if (this.#accounts.length < accountsMax) steps.push(['add an account', node => this.#addAccount(node)])
    if (this.#devices.length < devicesMax) steps.push(['add a device', node => this.#addDevice(node)])
    if (this.#stations.length < stationsMax) steps.push(['add a station', node => this.#addStation(node)])
    if (this.#tenants.length < tenantsMax) steps.push(['add a partner', node => this.#addTenant(node)])
    if (account !== undefined) steps.push(...accountSteps(account, this.#random))
    if (device !== undefined) steps.push(...deviceSteps(device))
    if (station !== undefined) steps.push(...stationSteps(station))
    if (tenant !== undefined) steps.push(...tenantSteps(tenant))
    return this.#pick(steps) ?? ['nothing', async () => undefined]
  }

  attempts(): Attempt[] {
    return [
      ...this.#accounts.flatMap(attemptsOfAccount),
      ...this.#devices.flatMap(attemptsOfDevice),
      ...this.#stations.map(station => attemptOfStation(station, this.#readerKey)),
      ...this.#tenants.flatMap(attemptsOfTenant),
    ]
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values[this.#random.below(values.length)]
  }

  async #addAccount(node: Service): Promise<void> {
    this.#accounts.push(await addAccount(node, 'user'))
  }

  async #addDevice(node: Service): Promise<void> {
    const name = `d${this.#devices.length}`
    this.#devices.push({ name, passwords: [await node.addDevice(name)], isOn: true, isRemoved: false })
  }

  async #addStation(node: Service): Promise<void> {
    const sn = `S-${this.#stations.length}`
    await ask(node, 'POST', '/stations', { sn, model: 'M1', owner: this.#ownerId })
    this.#stations.push({ sn, isPrivate: false, isRemoved: false })
  }

  async #addTenant(node: Service): Promise<void> {
    const slug = `partner-${this.#tenants.length}`
    const { secret } = await ask<{ secret: string }>(node, 'POST', '/tenants', { slug, name: slug })
    this.#tenants.push({ slug, secrets: [secret], isActive: true, bearers: [] })
  }
}

function accountSteps(account: Account, random: Random): [string, Step][] {
  const { id, email, sessions, keys, isActive, isAdministrator } = account
  const session = sessions.findLast(({ goesOn }) => goesOn)
  const key = keys.find(({ isRevoked }) => !isRevoked)
  const role = isAdministrator ? 'user' : 'administrator'
  const steps: [string, Step][] = [
    [
      isActive ? 'switch an account off' : 'switch an account on',
      async node => {
        await ask(node, 'PATCH', `/accounts/${id}`, { is_active: !isActive })
        account.isActive = !isActive
        if (isActive) for (const each of sessions) each.goesOn = false
        if (isActive) for (const each of keys) each.isRevoked = true
      },
    ],
    [
      `make somebody ${role}`,
      async node => {
        await ask(node, 'PATCH', `/accounts/${id}`, { role })
        account.isAdministrator = !isAdministrator
        if (isAdministrator) for (const each of keys) if (each.scope === 'admin') each.scope = undefined
      },
    ],
  ]
  if (!isActive) return steps
  steps.push([
    'sign in',
    async node => {
      const answer = await post<{ access_token: string }>(node, '/token', { email, password: account.password })
      sessions.push({ token: answer.access_token, goesOn: true })
    },
  ])
  if (keys.length < 8) {
    steps.push([
      'add a key',
      async node => {
        const scope = isAdministrator && random.chance(0.5) ? 'admin' : 'read'
        keys.push({ ...(await addKey(node, id, [scope])), scope, isRevoked: false })
      },
    ])
  }
  if (key !== undefined) {
    steps.push([
      'revoke a key',
      async node => {
        await ask(node, 'DELETE', `/keys/${key.id}`)
        key.isRevoked = true
      },
    ])
  }
  steps.push(['change a password', node => changePassword(node, account)])
  if (session !== undefined) {
    steps.push([
      'sign out',
      async node => {
        await post(node, '/logout', {}, { authorization: `Bearer ${session.token}` })
        session.goesOn = false
      },
    ])
  }
  return steps
}

/** By a session of the pages: a bearer token may not. */
async function changePassword(node: Service, account: Account): Promise<void> {
  const { url } = node
  const next = `horse ${randomUUID()}`
  const form = new URLSearchParams({ email: account.email, password: account.password })
  const init = { method: 'POST', headers: { origin: publicUrl }, body: form, redirect: 'manual' as const }
  const cookies = (await fetch(`${url}/sign-in`, init)).headers.getSetCookie()
  const cookie = cookies.map(text => text.slice(0, text.indexOf(';'))).join('; ')
  const body = { current_password: account.password, new_password: next }
  await post(node, '/password/change', body, { cookie, origin: publicUrl })
  account.password = next
  for (const each of account.sessions) each.goesOn = false
}

function attemptsOfAccount({ id, isActive, sessions, keys }: Account): Attempt[] {
  return [
    ...sessions.map(({ token, goesOn }, at) => ({
      name: `session ${at} of account ${id}`,
      expected: isActive && goesOn ? 200 : 401,
      try: (url: string) => statusOf(`${url}/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } }),
    })),
    ...keys.map(({ id: key, text, scope, isRevoked }) => ({
      name: `key ${key} of account ${id}, ${scope ?? 'of no scope'}`,
      expected: !isActive || isRevoked ? 401 : scope === 'read' ? 404 : scope === 'admin' ? 200 : 403,
      // Of no device: 404 for whom reads are open to.
      try: (url: string) =>
        statusOf(`${url}${scope === 'read' ? '/api/device/nobody' : '/api/admin/accounts'}`, {
          headers: { 'x-api-key': text },
        }),
    })),
  ]
}

function deviceSteps(device: Device): [string, Step][] {
  const path = `/devices/${device.name}`
  return [
    [
      'rotate a password',
      async node => {
        const { password } = await ask<{ password: string }>(node, 'POST', `${path}/rotate?now=1`)
        device.passwords.push(password)
      },
    ],
    [
      'switch a device',
      async node => {
        await ask(node, 'PATCH', path, { log_switch: !device.isOn })
        device.isOn = !device.isOn
      },
    ],
    [
      'remove a device',
      async node => {
        await ask(node, 'DELETE', path)
        device.isRemoved = true
      },
    ],
  ]
}

function attemptsOfDevice({ name, passwords, isOn, isRemoved }: Device): Attempt[] {
  const body = JSON.stringify({ device: name, temperature: 20, humidity: 50, pressure: 1000 })
  return passwords.slice(-3).map((password, at, shown) => ({
    name: `password ${at} of device ${name}`,
    expected: isRemoved || at < shown.length - 1 ? 401 : isOn ? 200 : 403,
    try: url => {
      const headers = { authorization: basic(name, password), 'content-type': 'application/json' }
      return statusOf(`${url}/api/log`, { method: 'PUT', headers, body })
    },
  }))
}

function stationSteps(station: Station): [string, Step][] {
  const path = `/stations/${station.sn}`
  return [
    [
      'hide or show a station',
      async node => {
        await ask(node, 'PATCH', path, { private: !station.isPrivate })
        station.isPrivate = !station.isPrivate
      },
    ],
    [
      'remove a station',
      async node => {
        await ask(node, 'DELETE', path)
        station.isRemoved = true
      },
    ],
  ]
}

function attemptOfStation({ sn, isPrivate, isRemoved }: Station, key: string): Attempt {
  return {
    name: `station ${sn}`,
    expected: isRemoved ? 404 : isPrivate ? 403 : 200,
    try: url => statusOf(`${url}/api/v1.0/device/${sn}`, { headers: { authorization: basicOf(key) } }),
  }
}

function tenantSteps(tenant: Tenant): [string, Step][] {
  const path = `/tenants/${tenant.slug}`
  const steps: [string, Step][] = [
    [
      'switch a partner',
      async node => {
        await ask(node, 'PATCH', path, { is_active: !tenant.isActive })
        tenant.isActive = !tenant.isActive
        // Whether those that it had go on is not what this is about.
        if (!tenant.isActive) tenant.bearers = []
      },
    ],
    [
      'rotate the secret of a partner',
      async node => {
        const { secret } = await ask<{ secret: string }>(node, 'POST', `${path}/rotate?now=1`)
        tenant.secrets.push(secret)
      },
    ],
  ]
  if (!tenant.isActive) return steps
  steps.push([
    'a guest of a partner comes',
    async ({ url }) => {
      const answer = await exchange(url, tenant.slug, tenant.secrets.at(-1) ?? '')
      if (answer.token === undefined) throw new Error(`a guest got ${answer.status}`)
      tenant.bearers.push(answer.token)
    },
  ])
  return steps
}

function attemptsOfTenant({ slug, secrets, isActive, bearers }: Tenant): Attempt[] {
  return [
    ...bearers.map((token, at) => ({
      name: `guest ${at} of ${slug}`,
      expected: 200,
      try: (url: string) => statusOf(`${url}/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } }),
    })),
    // Of a partner that is off, the good one alone.
    ...secrets.slice(isActive ? -2 : -1).map((secret, at, shown) => ({
      name: `secret ${at} of ${slug}`,
      expected: !isActive ? 403 : at === shown.length - 1 ? 200 : 401,
      try: async (url: string) => (await exchange(url, slug, secret)).status,
    })),
  ]
}

async function exchange(url: string, slug: string, secret: string): Promise<{ status: number; token?: string }> {
  const token = await new SignJWT({ email: `${slug}@example.com`, name: slug })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(slug)
    .setAudience(`${publicUrl}/v1/auth/tenant-exchange`)
    .setSubject('guest')
    .setIssuedAt()
    .setExpirationTime('4 minutes')
    .setJti(randomUUID())
    .sign(new TextEncoder().encode(secret))
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const body = JSON.stringify({ tenant_slug: slug, token })
  const response = await fetch(`${url}/v1/auth/tenant-exchange`, { ...init, body })
  const answer = (await response.json()) as { access_token?: string }
  return { status: response.status, ...(answer.access_token === undefined ? {} : { token: answer.access_token }) }
}

async function addAccount(node: Service, role: 'user' | 'administrator'): Promise<Account> {
  const [email, password] = [`${randomUUID()}@example.com`, `horse ${randomUUID()}`]
  const { id } = await ask<{ id: number }>(node, 'POST', '/accounts', { email, password, role, email_verified: true })
  return {
    id,
    email,
    password,
    isActive: true,
    isAdministrator: role === 'administrator',
    sessions: [],
    keys: [],
  }
}

async function addKey(node: Service, account: number, scopes: string[]): Promise<{ id: number; text: string }> {
  const { id, key } = await ask<{ id: number; key: string }>(node, 'POST', '/keys', { account, name: 'k', scopes })
  return { id, text: key }
}

/** By the admin API; it must not be refused. */
async function ask<Body>({ admin }: Service, method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await admin(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as Body
}

async function post<Body>({ url }: Service, path: string, body: object, more: Record<string, string> = {}) {
  const headers = { 'content-type': 'application/json', ...more }
  const response = await fetch(`${url}/v1/auth${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Body
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const response = await fetch(url, init)
  await response.arrayBuffer()
  return response.status
}
