/** Stored state of the evaluation, from which it continues after a start: states of pairs, the last batch, and its time. */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { idlePair, isOpen, type PairJson, type PairState, pairFromJson, pairToJson } from '../core/pair.ts'

export interface PairKey {
  rule: number
  device: number
}

interface PairRow extends PairKey {
  state: PairState
  /** The readings up to here are in it, epoch microseconds; NaN where none is. */
  stateUs: number
}

const rowsPerRead = 5_000

/** All, in pieces, of rules that are evaluated. */
export async function* readPairs(database: Pick<pg.Pool, 'query'>): AsyncGenerator<readonly PairRow[]> {
  let last: PairKey = { rule: 0, device: 0 }
  for (;;) {
    const rows = await readPiece(database, last)
    if (rows.length > 0) yield rows
    const end = rows.at(-1)
    if (end === undefined || rows.length < rowsPerRead) return
    last = end
  }
}

async function readPiece(database: Pick<pg.Pool, 'query'>, { rule, device }: PairKey): Promise<PairRow[]> {
  const { rows } = await database.query<{ rule: number; device: number; state: PairJson; state_us: number }>(
    `SELECT rule_id AS rule, device, state, state_us FROM alert_pairs
     WHERE (rule_id, device) > ($1, $2) AND rule_id IN (SELECT id FROM alert_rules WHERE enabled AND removed_at IS NULL)
     ORDER BY rule_id, device LIMIT $3`,
    [rule, device, rowsPerRead],
  )
  return rows.map(({ state_us, state, ...key }) => ({ ...key, state: pairFromJson(state), stateUs: state_us }))
}

/** The last state of each pair counts. A pair in its initial state has no row. */
export async function savePairs(
  transaction: Transaction,
  pairs: readonly (PairKey & { state: PairState })[],
  nowMs: number,
): Promise<void> {
  const kept = pairs.filter(({ state }) => !isForgettable(state))
  await deletePairs(
    transaction,
    pairs.filter(({ state }) => isForgettable(state)),
  )
  if (kept.length === 0) return
  await transaction.query(
    `INSERT INTO alert_pairs (rule_id, device, state, state_us, changed_at)
     SELECT rule, device, state, coalesce((state->>'seenUs')::float8, 'NaN'), to_timestamp($2::float8 / 1000)
     FROM jsonb_to_recordset($1::jsonb) AS given (rule integer, device integer, state jsonb) ORDER BY rule, device
     ON CONFLICT (rule_id, device) DO UPDATE
     SET state = EXCLUDED.state, state_us = EXCLUDED.state_us, changed_at = EXCLUDED.changed_at`,
    [JSON.stringify(kept.map(({ rule, device, state }) => ({ rule, device, state: pairToJson(state) }))), nowMs],
  )
}

function isForgettable(state: PairState): boolean {
  return !isOpen(state) && state.changesMs.length === 0 && Object.is(state.seenUs, idlePair.seenUs)
}

async function deletePairs(transaction: Transaction, pairs: readonly PairKey[]): Promise<void> {
  if (pairs.length === 0) return
  await transaction.query(
    'DELETE FROM alert_pairs USING unnest($1::int[], $2::int[]) AS gone (rule, device) WHERE rule_id = rule AND alert_pairs.device = gone.device',
    [pairs.map(({ rule }) => rule), pairs.map(({ device }) => device)],
  )
}

export async function deletePairsOfRule(transaction: Transaction, rule: number): Promise<void> {
  await transaction.query('DELETE FROM alert_pairs WHERE rule_id = $1', [rule])
}

interface EngineRow {
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

interface EvaluatedUntil {
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
