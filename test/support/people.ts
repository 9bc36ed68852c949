/** People of a whole service, each with an account of their own, and their keys and stations, all by HTTP. */

import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { ServiceClient } from './service.ts'

type Admin = ServiceClient['admin']

export const password = 'correct horse battery'

interface PersonOptions {
  role?: 'user' | 'administrator'
  viewer?: boolean
  name?: string
  /** The address stays unconfirmed. */
  isUnverified?: boolean
}

export type Person = Awaited<ReturnType<typeof makePerson>>

/** An administrator makes the account, and vouches for the address. The person has the cookies of a session. */
export async function makePerson({ url, admin }: Pick<ServiceClient, 'url' | 'admin'>, options: PersonOptions = {}) {
  const { isUnverified = false, ...fields } = options
  const email = `${randomUUID()}@example.com`
  const { id } = await add<{ id: number }>(admin, '/accounts', {
    ...{ email, password, role: 'user', viewer: false, email_verified: !isUnverified },
    ...fields,
  })
  return {
    id,
    email,
    cookie: await signIn(url, email),
    bearer: async () => String((await post(url, '/v1/auth/token', { email, password }))['access_token']),
  }
}

/** The cookies of a session. */
export async function signIn(url: string, email: string): Promise<string> {
  const form = new URLSearchParams({ email, password })
  const init = { method: 'POST', headers: { origin: url }, body: form, redirect: 'manual' as const }
  const cookies = (await fetch(`${url}/sign-in`, init)).headers.getSetCookie()
  return cookies.map(text => text.slice(0, text.indexOf(';'))).join('; ')
}

/** A user of a partner, who is made with it. */
export async function makeTenantUser(service: ServiceClient, slug: string): Promise<{ id: number; bearer: string }> {
  const { secret } = await add<{ secret: string }>(service.admin, '/tenants', { slug, name: slug })
  const token = await new SignJWT({ email: `${slug}@example.com`, name: slug })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(slug)
    .setAudience(`${service.url}/v1/auth/tenant-exchange`)
    .setSubject('guest')
    .setIssuedAt()
    .setExpirationTime('4 minutes')
    .setJti(randomUUID())
    .sign(new TextEncoder().encode(secret))
  const answer = await post(service.url, '/v1/auth/tenant-exchange', { tenant_slug: slug, token })
  return { id: (answer['user'] as { id: number }).id, bearer: String(answer['access_token']) }
}

/** An API key of the person with the session. */
export async function makeKey(url: string, cookie: string, scopes: readonly string[], more = {}): Promise<string> {
  const made = await post(url, '/v1/auth/api-keys', { name: 'points', scopes, ...more }, { origin: url, cookie })
  return String(made['key'])
}

/** A key of an administrator, who may read, send points, and add stations. */
export async function makeStationKey(url: string, admin: Admin): Promise<string> {
  const { cookie } = await makePerson({ url, admin }, { role: 'administrator' })
  return await makeKey(url, cookie, ['read', 'ingest', 'stations'])
}

export async function addStations(admin: Admin, sns: readonly string[]): Promise<void> {
  for (const sn of sns) await add(admin, '/stations', { sn, model: 'M1' })
}

async function add<Added>(admin: Admin, path: string, fields: object): Promise<Added> {
  const { status, body } = await admin('POST', path, fields)
  if (status !== 201) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`)
  return body as Added
}

async function post(url: string, path: string, body: object, more = {}): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...more }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}
