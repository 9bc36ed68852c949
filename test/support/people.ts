/** People of a whole service, each with an account of their own, all by HTTP. */

import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { ServiceClient } from './service.ts'

export const password = 'correct horse battery'

export interface Person {
  id: number
  email: string
  /** Of a session. */
  cookie: string
  /** By `POST /v1/auth/token`. */
  bearer(): Promise<string>
}

interface PersonOptions {
  role?: 'user' | 'administrator'
  viewer?: boolean
  name?: string
  /** Nobody has confirmed the address. */
  isUnverified?: boolean
}

/** Made by an administrator, who vouches for the address. */
export async function makePerson(service: ServiceClient, options: PersonOptions = {}): Promise<Person> {
  const { role = 'user', viewer = false, name, isUnverified = false } = options
  const { url } = service
  const email = `${randomUUID()}@example.com`
  const added = await service.admin('POST', '/accounts', {
    email,
    password,
    role,
    viewer,
    name,
    email_verified: !isUnverified,
  })
  if (added.status !== 201) throw new Error(`no account was added: ${JSON.stringify(added)}`)
  const { id } = added.body as { id: number }
  return {
    id,
    email,
    cookie: await signIn(url, email),
    async bearer() {
      return String((await post(url, '/v1/auth/token', { email, password }))['access_token'])
    },
  }
}

/** The cookies of a session. */
export async function signIn(url: string, email: string): Promise<string> {
  const form = new URLSearchParams({ email, password })
  const init = { method: 'POST', headers: { origin: url }, body: form, redirect: 'manual' as const }
  const signedIn = await fetch(`${url}/sign-in`, init)
  const cookies = signedIn.headers.getSetCookie().map(text => text.slice(0, text.indexOf(';')))
  return cookies.join('; ')
}

/** A user of a partner, who is made with it. */
export async function makeTenantUser(service: ServiceClient, slug: string): Promise<{ id: number; bearer: string }> {
  const added = await service.admin('POST', '/tenants', { slug, name: slug })
  const { secret } = added.body as { secret: string }
  const audience = `${service.url}/v1/auth/tenant-exchange`
  const token = await new SignJWT({ email: `${slug}@example.com`, name: slug })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(slug)
    .setAudience(audience)
    .setSubject('guest')
    .setIssuedAt()
    .setExpirationTime('4 minutes')
    .setJti(randomUUID())
    .sign(new TextEncoder().encode(secret))
  const answer = await post(service.url, '/v1/auth/tenant-exchange', { tenant_slug: slug, token })
  return { id: (answer['user'] as { id: number }).id, bearer: String(answer['access_token']) }
}

async function post(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
  return text === '' ? {} : JSON.parse(text)
}
