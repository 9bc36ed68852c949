/** Up to when all that was received is evaluated, and which transitions are applied. */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'

export interface EngineRow {
  /** Receipt time; null before the first time. */
  evaluatedUntilMs: number | null
  /** Number of the last batch of transitions that is applied. */
  batch: number
}

const stepMs = 4_000

export async function readEngineRow(database: Pick<pg.Pool, 'query'>): Promise<EngineRow> {
  const { rows } = await database.query<{ until: Date | null; batch: string }>(
    'SELECT evaluated_until AS until, batch FROM alert_engine',
  )
  const [row] = rows
  return { evaluatedUntilMs: row?.until?.getTime() ?? null, batch: Number(row?.batch ?? 0) }
}

export interface EvaluatedUntil {
  evaluatedUntilMs: number
  requireLead: (transaction: Transaction) => Promise<void>
}

export async function writeEvaluatedUntil(
  pool: pg.Pool,
  { evaluatedUntilMs, requireLead }: EvaluatedUntil,
): Promise<void> {
  await inTransaction(pool, { stepMs }, async transaction => {
    await requireLead(transaction)
    const text = 'UPDATE alert_engine SET evaluated_until = to_timestamp($1::float8 / 1000)'
    await transaction.query(text, [evaluatedUntilMs])
  })
}

/** False where this batch is applied already. One at a time: it waits for a batch whose outcome is not known yet. */
export async function takeBatch(
  transaction: Transaction,
  batch: number,
  evaluatedUntilMs: number | undefined,
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `UPDATE alert_engine SET batch = $1,
       evaluated_until = coalesce(to_timestamp($2::float8 / 1000), evaluated_until)
     WHERE batch < $1`,
    [batch, evaluatedUntilMs ?? null],
  )
  return rowCount === 1
}
