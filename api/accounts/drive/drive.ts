/**
 * Links an external drive, `/v1/auth/<drive>`: a popup goes to the provider's consent page and back, and hands the
 * refresh token to the page of the front end that has opened it. The token is neither stored nor logged.
 */

import { randomBytes } from 'node:crypto'
import { type Account, subjectOf } from '../../../auth/accounts/account.ts'
import { useToken } from '../../../auth/accounts/account-tokens.ts'
import type { Accounts } from '../../../auth/accounts/accounts.ts'
import { writeAudit } from '../../../auth/audit.ts'
import type { RateLimit } from '../../../auth/rate-limits.ts'
import type { SessionCodec, SignedIn } from '../../../auth/sessions/session-codec.ts'
import { html } from '../../http/html.ts'
import { record, text } from '../kit/fields.ts'
import { type AccountOperation, type Answer, type OperationInput, operation, type Page } from '../kit/operation.ts'
import {
  challengeOf,
  consentUrl,
  type DriveClient,
  type DriveStates,
  type Exchanged,
  exchangeCode,
  stateLifetimeSeconds,
  verifierOf,
} from './drive-client.ts'

export interface DriveService {
  accounts: Accounts
  codec: Pick<SessionCodec, 'isSecure'>
  publicUrl: () => string
  drive: Drive
}

export interface Drive {
  /** Part of the addresses and of the message type. */
  name: string
  /** Undefined where it is not configured. */
  client: DriveClient | undefined
  states: DriveStates
}

/** Limits an account: each round may end in a request to the provider. */
const starts: RateLimit = { kind: 'drive start', countMax: 30, windowMs: 600_000 }

const CallbackQuery = record('DriveCallbackQuery', {
  state: text().optional(),
  code: text().optional(),
  error: text().optional(),
})

export function driveOperations(service: DriveService): AccountOperation[] {
  const { name, client } = service.drive
  const operationName = name.replaceAll('-', '_')
  return [
    operation({
      method: 'GET',
      path: `/${name}/start`,
      name: `start_${operationName}`,
      permission: 'account.manage',
      summary: "Send the popup to the provider's consent page",
      success: { status: 302, description: 'Redirect to the provider' },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY_REQUESTS', 'DRIVE_NOT_CONFIGURED', 'UNAVAILABLE'],
      async handle({ principal }) {
        if (client === undefined) return { ok: false, code: 'DRIVE_NOT_CONFIGURED' }
        if (principal?.kind !== 'session') return { ok: false, code: 'FORBIDDEN' }
        return await start(service, client, principal)
      },
    }),
    operation({
      method: 'GET',
      path: `/${name}/callback`,
      name: `finish_${operationName}`,
      summary: 'Callback of the provider, which passes the refresh token to the opener of the popup',
      parameters: { query: CallbackQuery },
      success: {
        status: 200,
        description: 'A page; with status 400 after an error',
        text: ['text/html'],
      },
      others: { 400: { description: 'A page with the error', text: ['text/html'] } },
      refusals: ['DRIVE_NOT_CONFIGURED', 'UNAVAILABLE'],
      async handle(asked) {
        if (client === undefined) return { ok: false, code: 'DRIVE_NOT_CONFIGURED' }
        const { message, cookies } = await finish(service, client, asked)
        return { ok: true, page: popupPage({ type: `${name}-auth`, ...message }, client.openerOrigin), cookies }
      },
    }),
  ]
}

async function start(service: DriveService, client: DriveClient, signedIn: SignedIn): Promise<Answer> {
  const { accounts, drive } = service
  const retryAfterSeconds = await accounts.limits.take(starts, String(signedIn.account.id))
  if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  const { secret, state } = await drive.states.issue(signedIn)
  const challenge = challengeOf(verifierOf(secret))
  const location = consentUrl(client, { redirectUri: redirectUri(service), state, challenge })
  return { ok: true, location, cookies: [stateCookie(service, secret, stateLifetimeSeconds)] }
}

type Message = { refresh_token: string } | { error: string }

async function finish(
  service: DriveService,
  client: DriveClient,
  asked: OperationInput<
    unknown,
    unknown,
    { state?: string | undefined; code?: string | undefined; error?: string | undefined }
  >,
): Promise<{ message: Message; cookies: string[] }> {
  const { accounts, drive } = service
  const { state = '', code, error } = asked.query
  const secret = asked.cookie(cookieName(service))
  const who = await asked.identify()
  const signedIn = who?.kind === 'session' ? who : undefined
  const opened = secret && signedIn && (await drive.states.open(state, secret, signedIn))
  // A request from another browser or session leaves the state unused.
  if (!opened) return { message: { error: 'invalid_state' }, cookies: [] }
  const cookies = [stateCookie(service, '', 0)]
  const isFirst = await useToken(accounts.pool, `${drive.name} state`, opened.nonce, opened.expiresMs)
  if (!isFirst) return { message: { error: 'invalid_state' }, cookies }
  if (error !== undefined) return { message: { error: error.slice(0, errorLengthMax) }, cookies }
  if (code === undefined) return { message: { error: 'invalid_request' }, cookies }
  const exchange = { code, verifier: verifierOf(secret), redirectUri: redirectUri(service) }
  const exchanged = await exchangeCode(client, exchange, accounts.log)
  await noteInAudit(service, signedIn.account, exchanged)
  return { message: exchanged.ok ? { refresh_token: exchanged.refreshToken } : { error: exchanged.error }, cookies }
}

/** The provider's text is shown as plain text, shortened. */
const errorLengthMax = 100

async function noteInAudit({ accounts, drive }: DriveService, { id }: Account, exchanged: Exchanged): Promise<void> {
  const details = { drive: drive.name, ...(exchanged.ok ? {} : { error: exchanged.error }) }
  const action = exchanged.ok ? 'drive.link' : 'drive.link-failed'
  await writeAudit(accounts.pool, { actor: subjectOf(id), action, subject: subjectOf(id), details })
}

function redirectUri({ publicUrl, drive }: DriveService): string {
  return `${publicUrl()}/v1/auth/${drive.name}/callback`
}

/** The prefix binds it to this host; without HTTPS, browsers would not take it. */
function cookieName({ codec, drive }: DriveService): string {
  return `${codec.isSecure ? '__Host-' : ''}barograph-${drive.name}`
}

function stateCookie(service: DriveService, value: string, maxAgeSeconds: number): string {
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${service.codec.isSecure ? '; Secure' : ''}`
  return `${cookieName(service)}=${value}; ${attributes}`
}

type DriveMessage = { type: string; refresh_token: string } | { type: string; error: string }

/** Windows of other origins than `openerOrigin` get nothing. */
function popupPage(message: DriveMessage, openerOrigin: string): Page {
  const nonce = randomBytes(16).toString('base64')
  const isLinked = 'refresh_token' in message
  const text = isLinked ? 'The drive is linked.' : `The drive could not be linked: ${message.error}`
  const script = `if (window.opener) {
  window.opener.postMessage(${inScript(message)}, ${inScript(openerOrigin)})
  window.close()
}`
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isLinked ? 'Drive linked' : 'Drive not linked'}</title></head>
<body><main><h1>${isLinked ? 'Drive linked' : 'Drive not linked'}</h1>
<p>${text}</p>
<p>You can close this window.</p></main>
<script nonce="${nonce}">${{ markup: script }}</script></body>
</html>
`
  return { status: isLinked ? 200 : 400, html: page.markup, headers: headersWith(nonce) }
}

function headersWith(nonce: string): Record<string, string> {
  return {
    'content-security-policy': [
      `default-src 'none'; script-src 'nonce-${nonce}'`,
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ].join('; '),
    // The window would lose its opener with any other value.
    'cross-origin-opener-policy': 'unsafe-none',
    'referrer-policy': 'no-referrer',
  }
}

/** JSON that cannot end the script element it stands in. */
function inScript(value: unknown): string {
  const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, escapeCharacter)
}
