/**
 * QuestDB behind a faulty network, for tests of the forwarder. It keeps the last row for each device and time, applies
 * writes on demand, and gives the test's answers.
 */

import type { QuestdbConnection, WriteAnswer } from '../../../ingest/forwarder/questdb.ts'
import type { RequestBody } from '../../../ingest/forwarder/write-request.ts'
import type { SqlRow } from '../../../store/questdb/client/questdb-client.ts'
import { measurementsTable, metrics, readingsTable } from '../../../store/tables.ts'
import { bytesOf } from '../../support/request-body.ts'

interface Row {
  /** For the table of custom values, the number of the series. */
  device: string
  timeUs: number
  values: Record<string, number>
}

export interface SimulatedQuestdb {
  connect(): QuestdbConnection
  /** Last row by device and time, as queries show it. */
  table(): Map<string, Row>
  /** Last row of the table of custom values, by series and time. */
  customTable(): Map<string, Row>
  /** Every request that was taken, in order. */
  taken: Row[][]
  /** Requests that came, taken or not, and queries. */
  offered: number
  asked: number
  /** Decides on a request before it is taken, by its rows. undefined accepts it. */
  answer: (rows: Row[]) => WriteAnswer | undefined
  /** While true, accepted rows are not applied. */
  holdsApply: boolean
  /** The table of the readings, unless another one is named. */
  suspended: { message: string; table?: string } | undefined
  resumed: number
  columns: string[]
  away: boolean
  commitMode: 'sync' | 'nosync'
  /** Removes all values of a custom series from the accepted rows. */
  erase(series: number): void
  /** Forgets the last requests, as after a power cut without sync. */
  lose(requests: number): void
}

const keyOf = ({ device, timeUs }: Row) => `${device} ${timeUs}`

export function createSimulatedQuestdb(commitMode: SimulatedQuestdb['commitMode'] = 'sync'): SimulatedQuestdb {
  const state: SimulatedQuestdb = {
    taken: [],
    offered: 0,
    asked: 0,
    answer: () => undefined,
    holdsApply: false,
    suspended: undefined,
    resumed: 0,
    columns: ['ts', 'device', ...metrics],
    away: false,
    commitMode,
    connect: () => ({ write, query, close: () => undefined }),
    table: () => rowsOf(row => !row.device.startsWith(customPrefix)),
    customTable: () => rowsOf(row => row.device.startsWith(customPrefix)),
    erase: series => {
      const rows = state.taken.flat().filter(({ device }) => device === `${customPrefix}${series}`)
      state.taken.push(rows.map(({ device, timeUs }) => ({ device, timeUs, values: {} })))
    },
    lose: requests => {
      state.taken.splice(-requests)
      applied = Math.min(applied, state.taken.length)
    },
  }
  let applied = 0

  async function write(body: RequestBody): Promise<WriteAnswer> {
    // The sender's buffers are used again after the request.
    const rowBytes = bytesOf(body)
    await new Promise(resolve => setImmediate(resolve))
    if (state.away) return { kind: 'failed', status: undefined, message: 'connection refused' }
    const rows = parseRows(rowBytes)
    state.offered++
    const answer = state.answer(rows)
    if (answer !== undefined && answer.kind !== 'stored') return answer
    state.taken.push(rows)
    return { kind: 'stored' }
  }

  async function query(sql: string): Promise<readonly SqlRow[]> {
    if (state.away) throw new Error('connection refused')
    state.asked++
    if (sql.startsWith('ALTER')) {
      state.resumed++
      state.suspended = undefined
      return []
    }
    if (!sql.includes('wal_tables')) return lookUp(sql)
    if (!state.holdsApply && state.suspended === undefined) applied = state.taken.length
    const { suspended } = state
    return [readingsTable, measurementsTable].map(name => {
      const isSuspended = suspended !== undefined && name === (suspended.table ?? readingsTable)
      return [name, state.taken.length, applied, isSuspended, isSuspended ? suspended.message : null]
    })
  }

  function lookUp(sql: string): readonly SqlRow[] {
    if (sql.includes('SHOW PARAMETERS')) return [[state.commitMode]]
    if (sql.includes(`table_columns('${measurementsTable}')`)) return [['ts'], ['series'], ['value']]
    if (sql.includes('table_columns')) return state.columns.map(column => [column])
    if (sql.includes('max(')) {
      const timesUs = [...state.customTable().values()].map(({ timeUs }) => timeUs)
      return [[timesUs.length === 0 ? null : Math.max(...timesUs)]]
    }
    return []
  }

  function rowsOf(isChosen: (row: Row) => boolean): Map<string, Row> {
    const rows = state.taken.slice(0, applied).flat().filter(isChosen)
    return new Map(rows.map(row => [keyOf(row), row] as const))
  }

  return state
}

const customPrefix = 'series='

/** Reads rows of the two forms that the forwarder sends. */
function parseRows(bytes: Buffer): Row[] {
  const rows: Row[] = []
  let at = 0
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at)
    const table = bytes.toString('latin1', at, space)
    const values: Record<string, number> = {}
    at = space
    let device = table.replace('readings,device=', '')
    if (table === measurementsTable) {
      const seriesEnd = at + 1 + customPrefix.length + '00000000i'.length
      device = `${customPrefix}${Number(bytes.toString('latin1', at + 1 + customPrefix.length, seriesEnd - 1))}`
      at = seriesEnd
    }
    while (bytes[at + 1] !== undefined && (bytes[at + 1] as number) > 0x39) {
      const equals = bytes.indexOf(0x3d, at)
      values[bytes.toString('latin1', at + 1, equals)] = bytes.readDoubleLE(equals + 3)
      at = equals + 11
    }
    const end = bytes.indexOf(0x0a, at)
    rows.push({ device, timeUs: Number(bytes.toString('latin1', at + 1, end - 1)), values })
    at = end + 1
  }
  return rows
}
