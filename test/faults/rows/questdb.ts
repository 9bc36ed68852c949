/** Rows 6 to 8: QuestDB is killed, frozen, unavailable, slow, or does not apply. Readings are acknowledged all the time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { readingsTable } from '../../../store/tables.ts'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { eachCycle, type TestBed, tenAtATime } from '../experiment.ts'
import { type Attempt, isAcknowledged } from '../ledger.ts'
import type { Trouble } from '../tcp-proxy.ts'

/** Readings must not wait for a database: waiting would cause silence for the whole outage. A slow machine causes short silences. */
const silenceShareMax = 0.5

export const killQuestdb = tenAtATime({ importEveryMs: 2000, points: true }, async (bed, count) => {
  const fromMs = Date.now()
  for (let kill = 0; kill < count; kill++) {
    await sleep(300 + bed.random.below(3000))
    await bed.databases.kill('questdb')
    bed.tally.crashes++
    await sleep(2500)
  }
  await complainOfSilence(bed, fromMs)
})

/** The deadline of a request fires within this time. */
const frozenMs = 35_000

export const freezeQuestdb = eachCycle({ perSecond: 200 }, async bed => {
  await sleep(1000)
  const fromMs = Date.now()
  await freezeFor(bed, bed.databases.pid('questdb'), frozenMs)
  await complainOfSilence(bed, fromMs)
})

/** Freezes a process with its children. They continue when this resolves. */
export async function freezeFor({ hooks }: TestBed, pid: number, ms: number): Promise<void> {
  const thaw = freeze(pid)
  hooks.teardown(thaw)
  await sleep(ms)
  thaw()
}

const outageMs = 40_000

export const outageOfQuestdb = eachCycle({ perSecond: 1500, devices: 80, points: true }, async bed => {
  const { service, proxy, tally } = bed
  await sleep(1000)
  const fromMs = Date.now()
  const before = await service.status()
  proxy.trouble.refuses = true
  proxy.cut()
  await sleep(outageMs)
  const { code, status } = await service.ready()
  if (code !== 200 || status !== 'degraded') tally.problems.push(`in an outage readiness says ${code} ${status}`)
  const after = await service.status()
  const taken = after.journal.readings - before.journal.readings
  const waiting = after.lag.readings
  // All acknowledged readings are pending: none is dropped, and only readings fill the journal.
  if (waiting < taken * 0.9) tally.problems.push(`of ${taken} readings only ${waiting} wait`)
  proxy.calm()
  const startedMs = performance.now()
  await until('the backlog is drained', async () => (await service.status()).lag.readings <= 2000)
  const drainedMs = performance.now() - startedMs
  tally.notes.push(`${waiting} readings of a ${outageMs / 1000} s outage drained in ${Math.round(drainedMs)} ms`)
  await complainOfSilence(bed, fromMs)
})

/** Readings and points were acknowledged all the time. */
export async function complainOfSilence(bed: TestBed, fromMs: number): Promise<void> {
  const toMs = Date.now()
  await sleep(100)
  for (const { attempts } of bed.ledgers()) {
    const longestMs = longestSilence(attempts, fromMs, toMs)
    const silence = `longest time without an acknowledgement ${longestMs} of ${toMs - fromMs} ms`
    bed.tally.notes.push(silence)
    if (longestMs > silenceShareMax * (toMs - fromMs)) bed.tally.problems.push(silence)
  }
}

function longestSilence(attempts: readonly Attempt[], fromMs: number, toMs: number): number {
  const ends = attempts
    .filter(isAcknowledged)
    .map(({ endMs = 0 }) => endMs)
    .filter(endMs => endMs >= fromMs && endMs <= toMs)
    .sort((a, b) => a - b)
  let longestMs = 0
  let lastMs = fromMs
  for (const endMs of [...ends, toMs]) {
    longestMs = Math.max(longestMs, endMs - lastMs)
    lastMs = endMs
  }
  return longestMs
}

const troubles: Record<string, Partial<Trouble>> = {
  '2 s latency': { latencyMs: 2000 },
  '10 kB/s': { bytesPerSecond: 10_000 },
  resets: { resetChance: 0.3 },
  'split packets': { pieceBytes: 7 },
  'late by chance': { latencyMs: 900, latencyChance: 0.5 },
  'half open': { silent: true },
}
const troubleMs = 6000

export const disturbNetwork = eachCycle({ importEveryMs: 3000 }, async bed => {
  const fromMs = Date.now()
  for (const trouble of Object.values(troubles)) {
    Object.assign(bed.proxy.trouble, trouble)
    bed.proxy.cut()
    await sleep(troubleMs)
    bed.proxy.calm()
    await sleep(500)
  }
  await complainOfSilence(bed, fromMs)
})

/** A suspended table accepts rows without showing them. The journal keeps them until they are applied. */
export const suspendTable = eachCycle({ environment: { JOURNAL_MAX: '4MiB' } }, async bed => {
  await sleep(1000)
  await suspendAndLose(bed)
  await sleep(500)
})

/**
 * Rows sequenced but not applied are lost in QuestDB while the service is down, as by a power cut without sync. A journal trimmed
 * at the 204 would have lost them.
 */
async function suspendAndLose(bed: TestBed): Promise<void> {
  const { databases, service } = bed
  const { sql } = databases
  await until('the suspension is logged', async () => {
    // A running apply job ignores the suspension, and applies the rows behind it, too.
    await sql(`ALTER TABLE ${readingsTable} SUSPEND WAL`)
    await sleep(500)
    return (await service.status()).questdb.suspended
  })
  await sleep(2000)
  await bed.kill()
  const [row] = await sql(`SELECT sequencerTxn FROM wal_tables() WHERE name = '${readingsTable}'`)
  await sql(`ALTER TABLE ${readingsTable} RESUME WAL FROM TXN ${Number(row?.[0]) + 1}`)
  await service.start()
}
