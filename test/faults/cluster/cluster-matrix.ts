/** The rows of `npm run faults:cluster`: one for each target of faults, and random mixes. */

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
import { changeableDevice, type FaultName, faults, faultsOf, happen, rest, type Target, untilHeld } from './faults.ts'

/** Fewer than in the other rows: five servers in Java and four services share the processors, and lag behind with more. */
const loads = { perSecond: 120, pointRequestsPerSecond: 15, importEveryMs: 4000 }
const faultsPerExperiment = 30
/** Each erase needs a device of its own. */
const erasesPerExperiment = 10

/** `count`: the number of faults of a whole run, by default the sum of the rows. */
export function clusterMatrix(brokers: 1 | 3, count?: number): MatrixRow[] {
  const ofTargets = [...Map.groupBy(faultsOf(brokers), name => faults[name][0])].map(([target, names]) => {
    const turns = turnsOf(names)
    return { row: target, what: 'one fault at a time', cycles: turns.length, minutes: 7, run: runInTurn(...turns) }
  })
  const rows: MatrixRow[] = [
    ...ofTargets,
    { row: 'mix', what: 'random mixes', cycles: 180, minutes: 40, run: inExperiments(mixed) },
    { row: 'erase', what: 'erased and revoked meanwhile', cycles: 10, minutes: 6, run: eraseMeanwhile },
    { row: 'expire', what: 'days expire meanwhile', cycles: 10, minutes: 6, run: expireMeanwhile },
  ]
  return count === undefined ? rows : shared(rows, count)
}

/** Each fault once, then the frequent ones again. */
function turnsOf(names: readonly FaultName[]): FaultName[] {
  const most = Math.max(...names.map(name => faults[name][1]))
  return Array.from({ length: most }, (_, turn) => names.filter(name => faults[name][1] > turn)).flat()
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

/** The faults of an experiment. `from` continues the count of the previous experiment. */
type Course = (bed: ClusterBed, from: number, count: number) => Promise<void>

const inTurn = (fault: (bed: ClusterBed, index: number) => Promise<void>): Course => {
  return async (bed, from, count) => {
    for (let index = from; index < from + count; index++) await alone(bed, () => fault(bed, index))
  }
}

export const runInTurn = (...names: FaultName[]): Run<Harness> =>
  inExperiments(inTurn((bed, index) => happen(bed, names[index % names.length] as FaultName)))

async function alone(bed: ClusterBed, fault: () => Promise<void>): Promise<void> {
  await rest(bed)
  await fault()
  await untilHeld(bed)
}

/** The faults of one part never overlap: two of them could undo each other. */
const parts: readonly (readonly Target[])[] = [
  ['api', 'link', 'postgres'],
  ['forwarders', 'brokers', 'questdb'],
]

/** Both parts have random faults at the same time. Passwords change meanwhile. */
async function mixed(bed: ClusterBed, _from: number, count: number): Promise<void> {
  const possible = faultsOf(bed.kafka.brokers.length)
  let left = count
  const lanes = parts.map(async targets => {
    const names = possible.filter(name => targets.includes(faults[name][0]))
    while (left-- > 0) {
      // The api processes run between their faults.
      if (targets.includes('api')) await bed.revoke(changeableDevice(bed))
      await alone(bed, () => happen(bed, bed.random.pick(names)))
    }
  })
  try {
    await Promise.all(lanes)
  } finally {
    left = 0
    await Promise.allSettled(lanes)
  }
}

/** A fault happens while one device is erased and the password of another is changed. */
const eraseMeanwhile = inExperiments(
  inTurn(async (bed, index) => {
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
    const name = victims.names.at(-2 - (index % erasesPerExperiment)) as string
    await victims.request(name)
    await bed.revoke(changeableDevice(bed))
    await happen(bed, names[index % names.length] as FaultName)
    await victims.untilErased(name)
  }),
  erasesPerExperiment,
)

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
  await clusterExperiment({ ...harness, source }, { seed, tally, ...loads }, async bed => {
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
    await mixed(bed, 0, cycles)
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

function inExperiments(course: Course, perExperiment = faultsPerExperiment): Run<Harness> {
  return async (harness, tally, seed, cycles) => {
    for (let done = 0; done < cycles; done += perExperiment) {
      await clusterExperiment(harness, { seed: seed + done, tally, ...loads }, bed =>
        course(bed, done, Math.min(perExperiment, cycles - done)),
      )
    }
  }
}
