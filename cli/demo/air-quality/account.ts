/** The account that the stations belong to, and its API key: made as a person in a browser makes one. */

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type AdminClient, refusal } from '../../admin-client.ts'
import type { DemoState } from '../state.ts'

export type DemoAccount = NonNullable<DemoState['account']>

const emailUsual = 'demo@example.com'

/** The one of the last run, if its key is still good; else a new one. */
export async function ensureAccount(client: AdminClient, known: DemoAccount | undefined): Promise<DemoAccount> {
  if (known !== undefined && (await isGood(client.url(), known.key))) return known
  const password = randomBytes(15).toString('base64url')
  const email = await addAccount(client, password)
  return { email, password, key: await makeKey(client.url(), email, password) }
}

async function isGood(url: string, key: string): Promise<boolean> {
  const headers = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }
  const response = await fetch(`${url}/api/v1.0/auth/`, { headers })
  await response.body?.cancel()
  return response.ok
}

/** Returns its e-mail address. */
async function addAccount(client: AdminClient, password: string): Promise<string> {
  // The usual account may exist with an unknown password.
  for (const email of [emailUsual, `demo-${randomBytes(4).toString('hex')}@example.com`]) {
    // The pages of administration are worth a look, too.
    const account = { email, password, name: 'Demo', role: 'administrator', email_verified: true }
    const body = JSON.stringify(account)
    const response = await client.send('POST', '/accounts', { body, headers: { 'content-type': 'application/json' } })
    if (response.status !== 409 && !response.ok) throw await refusal(response)
    await response.body?.cancel()
    if (response.ok) return email
  }
  throw new Error('The account of the demo could not be made.')
}

const Csrf = z.object({ csrfToken: z.string() })
const NewKey = z.object({ key: z.string() })

/** Only who is signed in by a browser makes keys. */
async function makeKey(url: string, email: string, password: string): Promise<string> {
  const csrf = await fetch(`${url}/auth/csrf`)
  const { csrfToken } = Csrf.parse(await csrf.json())
  const signedIn = await fetch(`${url}/auth/callback/credentials`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookiesOf(csrf) },
    body: new URLSearchParams({ csrfToken, email, password }),
  })
  await signedIn.body?.cancel()
  const made = await fetch(`${url}/v1/auth/api-keys`, {
    method: 'POST',
    headers: { cookie: cookiesOf(signedIn), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'demo', scopes: ['read', 'ingest', 'stations'] }),
  })
  if (!made.ok) throw new Error(`The demo got no API key: ${made.status} ${await made.text()}`)
  return NewKey.parse(await made.json()).key
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map(cookie => cookie.split(';')[0])
    .join('; ')
}
