/** Requests of an import: batches with retries, and `--create-devices`. */

import { closeSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { IssuedPassword } from '../auth/devices/device.ts'
import { type AdminClient, refusal } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import type { Batch } from './import-batch.ts'
import { openForOwner, passwordRow, passwordsHeader } from './passwords.ts'

const contentTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/**
 * The attempts take some five minutes with the delays below: long enough for a restart, or for a full disk to get room.
 */
const attemptsMax = 15
const delayMsMin = 500
const delayMsMax = 30_000

interface UploadOptions<Answer> {
  client: AdminClient
  /** The path is below `/api/admin`. */
  path: string
  /** The schema of its answer. */
  shape: z.ZodType<Answer>
  /** Called before each wait, with the reason for it. */
  onRetry: (reason: string, delayMs: number) => void
}

/** Idempotent, because every row carries its timestamp. */
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

const IssuedPasswords = z.array(IssuedPassword)
const namesPerRequest = 1_000

/** `--create-devices`: adds the devices of an import that are not registered. */
export interface DeviceMaker {
  /** Makes those that are new, each once; says how many it made. */
  make(names: Iterable<string>): Promise<number>
  readonly made: readonly IssuedPassword[]
}

/** `onMade` gets passwords at once, because they cannot be requested again. */
export function createDeviceMaker(client: AdminClient, onMade: (made: IssuedPassword[]) => void): DeviceMaker {
  const made: IssuedPassword[] = []
  const tried = new Set<string>()

  async function make(names: Iterable<string>): Promise<number> {
    // Composed and decomposed spellings are one name.
    const distinct = new Set([...names].map(name => name.normalize('NFC')))
    const wanted = [...distinct].filter(name => !tried.has(name))
    for (let from = 0; from < wanted.length; from += namesPerRequest) {
      const slice = wanted.slice(from, from + namesPerRequest)
      const issued = await client.json(
        IssuedPasswords,
        'POST',
        '/devices',
        slice.map(name => ({ name })),
      )
      for (const name of slice) tried.add(name)
      made.push(...issued)
      onMade(issued)
    }
    return wanted.length
  }

  return { make, made }
}

interface PasswordsFile {
  add(passwords: readonly IssuedPassword[]): void
  close(): void
}

export function createPasswordsFile(path: string): PasswordsFile {
  const descriptor = openForOwner(path)
  writeSync(descriptor, passwordsHeader)
  return {
    add: passwords => {
      writeSync(descriptor, passwords.map(passwordRow).join(''))
    },
    close: () => closeSync(descriptor),
  }
}
