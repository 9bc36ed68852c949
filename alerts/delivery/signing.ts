/** Signatures of webhooks (Standard Webhooks 1.0): by the secret of the channel, and for a day after a rotation by the one before as well. */

import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

/** Signing secret of a `webhook` channel. Stored encrypted. */
export interface SigningSecrets {
  secret: string
  previous?: { secret: string; endsMs: number } | undefined
}

const secretBytes = 32
const previousMs = 24 * 3_600_000

export function createSigningSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}

/** The replaced secret stays valid for a day. The one before it ends now. */
export function rotatedSecrets({ secret }: SigningSecrets, nowMs: number): SigningSecrets {
  return { secret: createSigningSecret(), previous: { secret, endsMs: nowMs + previousMs } }
}

export function signatureHeaders(
  secrets: SigningSecrets,
  { webhookId, body, nowMs }: { webhookId: string; body: string; nowMs: number },
): Record<string, string> {
  const { secret, previous } = secrets
  const live = previous !== undefined && previous.endsMs > nowMs ? [secret, previous.secret] : [secret]
  const time = new Date(nowMs)
  return {
    'webhook-id': webhookId,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': live.map(each => new Webhook(each).sign(webhookId, time, body)).join(' '),
  }
}
