/** The rows of `npm run faults:cluster`: one for each fault, and random mixes. */

import { join } from 'node:path'
import { dayMs, horizonMs } from '../../../service/lifecycle/retention/horizon.ts'
import { expiredHoursTable, readingsTable } from '../../../store/tables.ts'
import { until } from '../../support/processes.ts'
import { type Change, copySource } from '../copy-source.ts'
import type { Harness, Run } from '../experiment.ts'
import { sequenceEnd } from '../identity.ts'
import type { MatrixRow } from '../matrix.ts'
import { fieldsOf } from '../requests.ts'
import { devicesOf } from '../rows/erase.ts'
import type { Tally } from '../tally.ts'
import { type ClusterBed, clusterExperiment } from './cluster-experiment.ts'
import { changeableDevice, type FaultName, faults, faultsOf, happen, happenAny, rest, untilHeld } from './faults.ts'

const faultsPerExperiment = 10

/** `count`: the number of faults of a whole run, by default the sum of the rows. */
export function clusterMatrix(brokers: 1 | 3, count?: number): MatrixRow[] {
  const single = faultsOf(brokers).map((what, index) => {
    const [, cycles, seconds] = faults[what]
    return { row: `c${index + 1}`, what, cycles, minutes: (cycles * seconds) / 60, run: runFault(what) }
  })
  const rows: MatrixRow[] = [
    ...single,
    { row: 'mix', what: 'random mixes', cycles: 60, minutes: 30, run: inExperiments(happenAny) },
    { row: 'erase', what: 'erased and revoked meanwhile', cycles: 12, minutes: 6, run: eraseMeanwhile },
    { row: 'expire', what: 'days expire meanwhile', cycles: 8, minutes: 6, run: expireMeanwhile },
  ]
  return count === undefined ? rows : shared(rows, count)
}

/** Each row keeps its share. The sum is exact. */
function shared(rows: readonly MatrixRow[], count: number): MatrixRow[] {
  const all = rows.reduce((sum, { cycles }) => sum + cycles, 0)
  let [given, before] = [0, 0]
  return rows
    .map(row => {
      before += row.cycles
      const cycles = Math.round((before * count) / all) - given
      given += cycles
      return { ...row, cycles }
    })
    .filter(({ cycles }) => cycles > 0)
}

export const runFault = (name: FaultName): Run<Harness> => inExperiments(bed => happen(bed, name))

export const runInTurn = (names: readonly FaultName[]): Run<Harness> =>
  inExperiments((bed, index) => happen(bed, names[index] as FaultName))

/** A fault happens while one device is erased and the password of another is changed. */
const eraseMeanwhile = inExperiments(async (bed, index) => {
  const names = [
    'holder killed',
    'disk of QuestDB deleted, replica made again',
    'holder frozen',
    'api killed',
    'api frozen, passwords changed',
    'QuestDB killed',
    'disk of QuestDB deleted',
    'all brokers killed',
    'PostgreSQL killed',
  ]
  const victims = devicesOf(bed)
  const name = victims.names.at(-2 - index) as string
  await victims.request(name)
  await bed.revoke(changeableDevice(bed))
  await happen(bed, names[index % names.length] as FaultName)
  await victims.untilErased(name)
})

const oldDays = 6
const keptDays = 30
const perDay = 24
/** Removes the hour of waiting. A clock that is wrong for less than an hour causes no expiry. */
const quick: Change = {
  file: 'service/open-retention.ts',
  from: 'const marginMs = 60 * minuteMs',
  to: 'const marginMs = 1000',
}

/** Expiry of old days is confirmed. The sequence numbers of their readings belong to no attempt, so each remaining row is found. */
async function expireMeanwhile(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  const source = join(harness.folder, 'quick')
  copySource(harness.source, source, [quick])
  await clusterExperiment({ ...harness, source }, { seed, tally, importEveryMs: 2000 }, async bed => {
    const endMs = horizonMs(Date.now(), keptDays)
    await importDays(bed, endMs - oldDays * dayMs)
    for (const api of bed.apis) {
      api.environment['RETENTION_DAYS'] = String(keptDays)
      await api.end('SIGTERM')
    }
    for (const api of bed.apis) await api.start()
    const before = new Date(endMs).toISOString().slice(0, 10)
    await until('the days are confirmed', async () => {
      const { status } = await bed.service.admin('POST', '/retention/confirm', { before })
      return status === 200
    })
    for (let index = 0; index < cycles; index++) {
      await rest(bed)
      await happenAny(bed, index)
      await untilHeld(bed)
    }
    for (const sql of [bed.databases.sql, bed.databases.second?.sql ?? bed.databases.sql]) {
      const count = async (table: string) => {
        const [row] = await sql(`SELECT count() FROM ${table} WHERE ts < '${before}'`)
        return Number(row?.[0])
      }
      await until('the days are expired', async () => (await count(readingsTable)) === 0)
      await until('their hours are kept', async () => (await count(expiredHoursTable)) === oldDays * perDay)
    }
  })
}

async function importDays({ devices, service }: ClusterBed, fromMs: number): Promise<void> {
  const device = devices[1]?.name ?? ''
  const lines = Array.from({ length: oldDays * perDay }, (_, at) =>
    JSON.stringify(fieldsOf(device, sequenceEnd - 1 - at, fromMs + (at * dayMs) / perDay)),
  )
  await until('old readings are imported', async () => {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/admin/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminToken()}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    })
    await response.body?.cancel()
    return response.status === 200
  })
}

function inExperiments(fault: (bed: ClusterBed, index: number) => Promise<void>): Run<Harness> {
  return async (harness, tally, seed, cycles) => {
    for (let done = 0; done < cycles; done += faultsPerExperiment) {
      await clusterExperiment(harness, { seed: seed + done, tally, importEveryMs: 2000 }, async bed => {
        for (let index = 0; index < Math.min(faultsPerExperiment, cycles - done); index++) {
          await rest(bed)
          await fault(bed, index)
          await untilHeld(bed)
        }
      })
    }
  }
}
