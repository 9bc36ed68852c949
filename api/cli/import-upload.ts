/** Sends one batch until the server has taken it. A batch sent twice is stored once, since its rows carry their times. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ImportAnswer } from '../admin/import-answer.ts'
import { type AdminClient, refusal } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import type { Batch } from './import-batches.ts'

const contentTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/** With the delays below these are some five minutes: long enough for a restart, or for a full disk to get room. */
const attemptsMax = 15
const delayMsMin = 500
const delayMsMax = 30_000

export interface UploadOptions {
  client: AdminClient
  /** Called before each wait, with the reason for it. */
  onRetry: (reason: string, delayMs: number) => void
}

export async function uploadBatch(batch: Batch, { client, onRetry }: UploadOptions): Promise<ImportAnswer> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptUpload(batch, client)
    if (outcome.kind === 'answer') return outcome.answer
    if (!outcome.again || attempt === attemptsMax) throw outcome.error
    const backoffMs = Math.min(delayMsMax, delayMsMin * 2 ** (attempt - 1))
    const delayMs = Math.max(outcome.retryAfterMs, backoffMs)
    onRetry(outcome.error.message, delayMs)
    await sleep(delayMs)
  }
}

type Outcome =
  | { kind: 'answer'; answer: ImportAnswer }
  | { kind: 'error'; error: CommandError; again: boolean; retryAfterMs: number }

const passingStatuses = new Set([408, 429, 500, 502, 503, 504])

async function attemptUpload({ body, format }: Batch, client: AdminClient): Promise<Outcome> {
  // Where the server is must be known; only its absence passes.
  client.url()
  let response: Response
  try {
    response = await client.send('POST', '/import', { body, headers: { 'content-type': contentTypes[format] } })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { kind: 'error', error, again: true, retryAfterMs: 0 }
  }
  if (!response.ok) {
    const error = await refusal(response)
    return { kind: 'error', error, again: passingStatuses.has(response.status), retryAfterMs: retryAfterMs(response) }
  }
  return await readAnswer(response, client.url())
}

async function readAnswer(response: Response, url: string): Promise<Outcome> {
  try {
    const answer = ImportAnswer.safeParse(await response.json())
    if (answer.success) return { kind: 'answer', answer: answer.data }
  } catch {
    const error = new CommandError(`the answer from ${url} broke off`)
    return { kind: 'error', error, again: true, retryAfterMs: 0 }
  }
  const error = new CommandError(`${url} does not answer like a Barograph of this version`)
  return { kind: 'error', error, again: false, retryAfterMs: 0 }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after'))
  return Number.isFinite(seconds) ? Math.min(delayMsMax, seconds * 1000) : 0
}
