/** `GET /status/history`: returns the service's stored measurements of itself. */

import { z } from 'zod'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { isUnanswered, QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import type { Questdb } from '../../store/questdb/questdb.ts'
import { selfMonitoringColumns, selfMonitoringTable } from '../../store/tables.ts'
import { StatusHistory } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendQuestdbAway } from './problem.ts'

const hoursMax = 720

const HistoryQuery = z.strictObject({
  hours: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1')
    .transform(Number)
    .refine(hours => hours <= hoursMax, `must be at most ${hoursMax}`)
    .default(24)
    .meta({ type: 'integer', minimum: 1, maximum: hoursMax, pattern: undefined }),
})

const stepMin = 10
const pointsMax = 360
const timeoutMs = 10_000

export function statusHistoryOperation(questdb: Pick<Questdb, 'address'>): AdminOperation {
  return operation({
    method: 'GET',
    path: '/status/history',
    name: 'admin_read_status_history',
    summary: 'Measurements of the service over time',
    parameters: { query: HistoryQuery },
    success: { status: 200, description: 'At most 361 points', json: StatusHistory.meta({ id: 'AdminStatusHistory' }) },
    refusals: ['DATABASE_AWAY'],
    async handle({ query }, reply) {
      try {
        return reply.send(await readHistory(questdb, query.hours))
      } catch (error) {
        if (isUnanswered(error)) return sendQuestdbAway(reply)
        throw error
      }
    },
  })
}

async function readHistory({ address }: Pick<Questdb, 'address'>, hours: number): Promise<StatusHistory> {
  const step_s = Math.max(stepMin, Math.ceil((hours * 3600) / pointsMax))
  const columns = selfMonitoringColumns.map(({ name, over }) => `${over}(${name})`).join(', ')
  const range = `ts >= dateadd('h', -${hours}, now())`
  const sql = `SELECT ts, ${columns} FROM ${selfMonitoringTable} WHERE ${range} SAMPLE BY ${step_s}s`
  const client = createQuestdbClient(address.http, 1)
  try {
    const rows = await client.exec(sql, timeoutMs)
    return { hours, step_s, points: rows.map(pointOf) }
  } catch (error) {
    // The first row creates the table.
    if (error instanceof QuestdbError && error.code === 'TABLE_MISSING') return { hours, step_s, points: [] }
    throw error
  } finally {
    client.close()
  }
}

function pointOf([time, ...values]: readonly unknown[]): StatusHistory['points'][number] {
  const named = selfMonitoringColumns.map(({ name }, at) => [name, values[at] ?? null])
  return {
    time: new Date(String(time)).toISOString(),
    ...Object.fromEntries(named),
  } as StatusHistory['points'][number]
}
