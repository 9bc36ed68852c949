/**
 * `POST /backup`: writes a backup to a folder of the server's machine and reports progress in lines of JSON. The backup
 * ends with the connection. Only the local admin token may call it: a backup holds all secrets, and the folder may be
 * anywhere.
 */

import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { WriteLateAudit } from '../../auth/audit.ts'
import { backUp } from '../../service/backup/backup.ts'
import { BackupError, type BackupParts } from '../../service/backup/backup-parts.ts'
import type { Retention } from '../../service/lifecycle/retention/retention.ts'
import { addJsonBody } from '../http/request-body.ts'
import type { OperationGroup } from '../http/route-family.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'

const BackupRequest = z.strictObject({ directory: z.string().min(1).max(4096) })

/** The last line has `done` or `error`. */
export const BackupLine = z.union([
  z.object({ step: z.string(), bytes: z.number() }),
  z.object({ done: z.object({ files: z.int(), bytes: z.number(), rows: z.record(z.string(), z.number()) }) }),
  z.object({ error: z.string() }),
])
export type BackupLine = z.infer<typeof BackupLine>

const progressMs = 500

export interface BackupOptions {
  parts: BackupParts
  /** A day that expires during the copy would be missing or half copied. */
  whileNoDayExpires: Retention['whileNoDayExpires']
  audit: WriteLateAudit
}

interface Started {
  step: string
  bytes: BigInt64Array
  end: BackupLine | undefined
  ended: Promise<void>
}

export function backupGroup({ parts, whileNoDayExpires, audit }: BackupOptions): OperationGroup<AdminOperation> {
  const closing = new AbortController()
  let running: Promise<unknown> | undefined

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

  const begin = operation({
    method: 'POST',
    path: '/backup',
    name: 'admin_back_up',
    summary: 'Write a backup to a folder of this machine',
    description: 'Needs the local admin token. The answer reports its progress as lines of JSON.',
    isTokenOnly: true,
    body: { json: BackupRequest.meta({ id: 'BackupRequest' }) },
    success: { status: 200, description: 'The last line has done or error', text: ['application/x-ndjson'] },
    refusals: ['BACKUP_RUNNING'],
    async handle({ body: { directory }, actor }, reply) {
      if (running !== undefined) return sendProblem(reply, 'BACKUP_RUNNING', { detail: 'one backup at a time' })
      const cancelled = new AbortController()
      reply.raw.once('close', () => cancelled.abort())
      const started = start(directory, cancelled.signal)
      await audit({ actor, action: 'backup', subject: directory, details: {} })
      return reply.type('application/x-ndjson').send(Readable.from(linesOf(started)))
    },
  })

  return {
    operations: [begin],
    prepare(scope) {
      addJsonBody(scope)
      scope.addHook('preClose', async () => {
        closing.abort()
        await running
      })
    },
  }
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
