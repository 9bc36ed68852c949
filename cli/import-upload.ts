/** Uploads one batch, with retries. Idempotent, because every row carries its timestamp. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { type AdminClient, refusal } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import type { Batch } from './import-batch.ts'

const contentTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/** With the delays below these are some five minutes: long enough for a restart, or for a full disk to get room. */
const attemptsMax = 15
const delayMsMin = 500
const delayMsMax = 30_000

export interface UploadOptions<Answer> {
  client: AdminClient
  /** Below `/api/admin`. */
  path: string
  /** The schema of its answer. */
  shape: z.ZodType<Answer>
  /** Called before each wait, with the reason for it. */
  onRetry: (reason: string, delayMs: number) => void
}

export async function uploadBatch<Answer>(batch: Batch, options: UploadOptions<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptUpload(batch, options)
    if (outcome.kind === 'answer') return outcome.answer
    if (!outcome.again || attempt === attemptsMax) throw outcome.error
    const backoffMs = Math.min(delayMsMax, delayMsMin * 2 ** (attempt - 1))
    const delayMs = Math.max(outcome.retryAfterMs, backoffMs)
    options.onRetry(outcome.error.message, delayMs)
    await sleep(delayMs)
  }
}

type Outcome<Answer> =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'error'; error: CommandError; again: boolean; retryAfterMs: number }

const passingStatuses = new Set([408, 429, 500, 502, 503, 504])

async function attemptUpload<Answer>(
  { body, format }: Batch,
  { client, path, shape }: UploadOptions<Answer>,
): Promise<Outcome<Answer>> {
  // Where the server is must be known; only its absence passes.
  client.url()
  let response: Response
  try {
    response = await client.send('POST', path, { body, headers: { 'content-type': contentTypes[format] } })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { kind: 'error', error, again: true, retryAfterMs: 0 }
  }
  if (!response.ok) {
    const error = await refusal(response)
    return { kind: 'error', error, again: passingStatuses.has(response.status), retryAfterMs: retryAfterMs(response) }
  }
  return await readAnswer(response, shape, client.url())
}

async function readAnswer<Answer>(response: Response, shape: z.ZodType<Answer>, url: string): Promise<Outcome<Answer>> {
  try {
    const answer = shape.safeParse(await response.json())
    if (answer.success) return { kind: 'answer', answer: answer.data }
  } catch {
    const error = new CommandError(`the response from ${url} was cut off`)
    return { kind: 'error', error, again: true, retryAfterMs: 0 }
  }
  const error = new CommandError(`${url} did not respond like this version of Barograph`)
  return { kind: 'error', error, again: false, retryAfterMs: 0 }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after'))
  return Number.isFinite(seconds) ? Math.min(delayMsMax, seconds * 1000) : 0
}
