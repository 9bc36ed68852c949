/**
 * Sets work aside that ended the process: noted in a file while it ends, and applied in PostgreSQL at the next start.
 */

import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { z } from 'zod'
import { setNotificationAside } from '../alerts/delivery/outcome-rows.ts'
import { removeMail } from '../auth/mail/outbox-rows.ts'
import { blameWork, workKinds } from '../store/limits/attributed-work.ts'
import type { Log } from '../store/log.ts'
import { inTransaction, type Transaction } from '../store/postgres/transaction.ts'
import { setJobAside } from './lifecycle/erasure/erase-records.ts'

const FailedWork = z.object({
  kind: z.enum(workKinds),
  id: z.string().regex(/^\d{1,18}$/),
  fault: z.string().max(200),
  atMs: z.number(),
})
type FailedWork = z.infer<typeof FailedWork>

export interface SetAsideWork {
  kind: FailedWork['kind']
  id: string
  at: string
  /** Includes the remedy. */
  problem: string
}

const fileName = 'failed-work'
/** The process ends with the first of them, except for errors on the way. */
const linesMax = 100
const stepMs = 10_000

/** Call it in the handler of an uncaught error. It is synchronous, as later callbacks may not run. */
export function noteFailedWork(dataDirectory: string, error: unknown, nowMs: number): void {
  const work = blameWork()
  if (work === undefined) return
  const noted: FailedWork = { ...work, fault: faultOf(error), atMs: nowMs }
  try {
    appendFileSync(join(dataDirectory, fileName), `${JSON.stringify(noted)}\n`, { mode: 0o600, flush: true })
  } catch {
    // The work is repeated if the disk is full.
  }
}

/** The code or the name: a message may have an address. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return (typeof code === 'string' && code !== '' ? code : error.name).slice(0, 200)
}

export interface SetAsideOptions {
  dataDirectory: string
  pool: pg.Pool
  log: Pick<Log, 'error'>
}

const setAside: Record<FailedWork['kind'], (transaction: Transaction, id: string, atMs: number) => Promise<void>> = {
  delivery: setNotificationAside,
  mail: removeMail,
  erase: setJobAside,
  // The alert engine has disabled the rule when its thread ended.
  rule: async () => undefined,
}

/** Call it before any of the work could run again. */
export async function setAsideFailedWork({ dataDirectory, pool, log }: SetAsideOptions): Promise<void> {
  const path = join(dataDirectory, fileName)
  if (!existsSync(path)) return
  for (const work of readFailedWork(path)) {
    const { kind, id, fault, atMs } = work
    await inTransaction(pool, { stepMs }, async transaction => {
      await setAside[kind](transaction, id, atMs)
      await noteSetAside(transaction, work)
    })
    log.error({ kind, id, fault }, 'work that ended the service is set aside; see barograph doctor')
  }
  rmSync(path)
}

/** Ignores a line that the end of the process cut off. */
function readFailedWork(path: string): FailedWork[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, linesMax)
  return lines.flatMap(line => FailedWork.safeParse(jsonIn(line)).data ?? [])
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Rows are kept for a month. */
export async function noteSetAside(
  database: Pick<pg.Pool, 'query'>,
  { kind, id, fault, atMs }: FailedWork,
): Promise<void> {
  await database.query(
    `INSERT INTO set_aside (kind, id, at, fault) VALUES ($1, $2, to_timestamp($3::float8 / 1000), $4)
     ON CONFLICT (kind, id) DO UPDATE SET at = EXCLUDED.at, fault = EXCLUDED.fault`,
    [kind, id, atMs, fault],
  )
  await database.query("DELETE FROM set_aside WHERE at < to_timestamp($1::float8 / 1000) - interval '30 days'", [atMs])
}

const listedMax = 20

/** Lists work that needs a person. Work that was requested again since is left out. */
export async function readSetAside(pool: Pick<pg.Pool, 'query'>): Promise<SetAsideWork[]> {
  const { rows } = await pool.query<{ kind: FailedWork['kind']; id: string; at: Date; fault: string }>(
    `SELECT kind, id, at, fault FROM set_aside WHERE CASE kind
       WHEN 'delivery' THEN EXISTS (SELECT FROM alert_notifications AS made WHERE made.id = set_aside.id AND state = 'given_up')
       WHEN 'rule' THEN EXISTS (SELECT FROM alert_rules AS rule WHERE rule.id = set_aside.id AND NOT enabled AND removed_at IS NULL)
       WHEN 'erase' THEN EXISTS (
         SELECT FROM erase_jobs AS job WHERE job.id = set_aside.id AND state = 'failed' AND NOT EXISTS (
           SELECT FROM erase_jobs AS later WHERE later.id > job.id AND later.name = job.name
             AND later.rows_of = job.rows_of AND later.metric IS NOT DISTINCT FROM job.metric))
       ELSE true END
     ORDER BY at DESC, kind, id LIMIT ${listedMax}`,
  )
  return rows.map(({ kind, id, at, fault }) => ({
    kind,
    id,
    at: at.toISOString(),
    problem: problemOf[kind](id, fault),
  }))
}

const problemOf: Record<FailedWork['kind'], (id: string, fault: string) => string> = {
  delivery: (id, fault) =>
    `notification ${id} ended the service (${fault}) and is set aside: see barograph alerts deliveries show ${id}, then replay it`,
  mail: (id, fault) => `mail ${id} ended the service (${fault}) and is not sent: the recipient can ask for it again`,
  erase: (id, fault) => `erase job ${id} ended the service (${fault}) and is set aside: ask for the erase again`,
  rule: (id, fault) =>
    `rule ${id} ended the evaluation (${fault}) and is disabled: correct it, then run barograph alerts rules set ${id} --enable`,
}
