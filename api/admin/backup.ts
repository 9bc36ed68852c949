/**
 * `POST /backup`: writes a backup to a folder of the server's machine and tells how far it is, in lines of JSON. The backup
 * ends with the connection. Only for the local admin token: it holds all secrets, and the folder is anywhere.
 */

import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { backUp } from '../../backup/backup.ts'
import { BackupError } from '../../backup/backup-error.ts'
import type { BackupParts } from '../../backup/backup-parts.ts'
import type { Retention } from '../../lifecycle/retention/retention.ts'
import { actorIn, requesterOf } from './guard.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'

export const BackupRequest = z.strictObject({ directory: z.string().min(1).max(4096) })

/** `done` or `error` is in the last line. */
export const BackupLine = z.union([
  z.object({ step: z.string(), bytes: z.number() }),
  z.object({ done: z.object({ files: z.int(), bytes: z.number(), rows: z.record(z.string(), z.number()) }) }),
  z.object({ error: z.string() }),
])
export type BackupLine = z.infer<typeof BackupLine>

const progressMs = 500

export interface BackupOptions {
  parts: BackupParts
  /** A day that expires between the copies of its parts would be in none of them, or be dropped while it is copied. */
  whileNoDayExpires: Retention['whileNoDayExpires']
  audit: WriteLateAudit
}

interface Started {
  step: string
  bytes: BigInt64Array
  end: BackupLine | undefined
  ended: Promise<void>
}

export function registerBackup(scope: FastifyInstance, { parts, whileNoDayExpires, audit }: BackupOptions): void {
  const closing = new AbortController()
  let running: Promise<unknown> | undefined
  scope.addHook('preClose', async () => {
    closing.abort()
    await running
  })

  function start(folder: string, cancelled: AbortSignal): Started {
    const bytes = new BigInt64Array(new SharedArrayBuffer(8))
    const started: Started = { step: 'start', bytes, end: undefined, ended: Promise.resolve() }
    const signal = AbortSignal.any([closing.signal, cancelled])
    const onStep = (step: string) => void Object.assign(started, { step })
    started.ended = whileNoDayExpires(() => backUp(folder, parts, { signal, closing: closing.signal, onStep, bytes }))
      .then(
        done => ({ done }),
        (error: unknown) => failureOf(error, parts),
      )
      .then(end => {
        started.end = end
        running = undefined
      })
    running = started.ended
    return started
  }

  async function begin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (requesterOf(request).kind !== 'admin-token') {
      return sendProblem(reply, 'FORBIDDEN', { detail: 'only with the token from secrets/admin-token' })
    }
    const body = BackupRequest.safeParse(request.body)
    if (!body.success) return sendInvalid(reply, 'BODY_INVALID', body.error)
    if (running !== undefined) return sendProblem(reply, 'BACKUP_RUNNING', { detail: 'one backup at a time' })
    const { directory } = body.data
    const cancelled = new AbortController()
    reply.raw.once('close', () => cancelled.abort())
    const started = start(directory, cancelled.signal)
    await audit({ actor: actorIn(request), action: 'backup', subject: directory, details: {} })
    return reply.type('application/x-ndjson').send(Readable.from(linesOf(started)))
  }

  addPath(scope, '/backup', { POST: begin })
}

async function* linesOf(started: Started): AsyncGenerator<string> {
  while (started.end === undefined) {
    yield lineOf({ step: started.step, bytes: Number(Atomics.load(started.bytes, 0)) })
    await Promise.race([started.ended, sleep(progressMs, undefined, { ref: false })])
  }
  yield lineOf(started.end)
}

function failureOf(error: unknown, { log }: BackupParts): BackupLine {
  if (error instanceof BackupError) return { error: error.message }
  log.error({ err: error }, 'backup failed')
  return { error: `The backup failed (${error instanceof Error ? error.message : String(error)}).` }
}

function lineOf(line: BackupLine): string {
  return `${JSON.stringify(line)}\n`
}
