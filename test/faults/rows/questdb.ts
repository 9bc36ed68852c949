/** Rows 6 to 8 and 23: QuestDB is killed, frozen, away, late, slow or wrong. Readings are acknowledged all the time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { readingsTable } from '../../../store/tables.ts'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { startAnsweringProxy } from '../answering-proxy.ts'
import { eachCycle, type TestBed, tenAtATime } from '../experiment.ts'
import { type Attempt, isAcknowledged } from '../ledger.ts'
import { readSeriesNames } from '../public-route.ts'
import type { Trouble } from '../tcp-proxy.ts'

/**
 * No reading may wait for a database: who waits for one that is away is silent for as long as it is. A slow machine is
 * silent now and then.
 */
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

/** Long enough for the deadline of a request to fire. */
const frozenMs = 35_000

export const freezeQuestdb = eachCycle({ perSecond: 200 }, async bed => {
  await sleep(1000)
  const fromMs = Date.now()
  await freezeFor(bed, bed.databases.pid('questdb'), frozenMs)
  await complainOfSilence(bed, fromMs)
})

/** A process with its children, which go on when this resolves. */
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
  // What was taken is what waits: nothing is thrown away, and nothing else fills the journal.
  if (waiting < taken * 0.9) tally.problems.push(`of ${taken} readings only ${waiting} wait`)
  proxy.calm()
  const startedMs = performance.now()
  await until('the backlog is drained', async () => (await service.status()).lag.readings <= 2000)
  const drainedMs = performance.now() - startedMs
  tally.notes.push(`${waiting} readings of a ${outageMs / 1000} s outage drained in ${Math.round(drainedMs)} ms`)
  await complainOfSilence(bed, fromMs)
})

/** Readings were acknowledged all the time, and so were points. */
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

export const internalErrors = eachCycle({ importEveryMs: 1500 }, async bed => {
  const proxy = await startAnsweringProxy(bed.hooks, bed.proxy.target)
  proxy.decide = () => (bed.random.chance(0.3) ? { status: 500, message: 'internal error' } : undefined)
  bed.proxy.target = proxy.port
  bed.proxy.cut()
  await sleep(6000)
  proxy.decide = () => undefined
  if (proxy.refused === 0) bed.tally.problems.push('no error was injected')
  await replayLetters(bed)
})

/** A backlog over links of 50 and 150 kB/s, and through a proxy that takes no long requests. */
export const slowLink = eachCycle({ perSecond: 1500, importEveryMs: 2000, importReadings: 2000 }, async bed => {
  const { proxy } = bed
  proxy.trouble.refuses = true
  proxy.cut()
  await sleep(8000)
  await bed.load.stop()
  const limits = await startAnsweringProxy(bed.hooks, proxy.target)
  limits.decide = body => (body.length > 100_000 ? { status: 413, message: 'too large' } : undefined)
  const { target } = proxy
  proxy.target = limits.port
  proxy.calm()
  await untilForwarded(bed, 3000)
  if (limits.refused === 0) bed.tally.problems.push('no request was long')
  proxy.target = target
  for (const bytesPerSecond of [150_000, 50_000]) {
    Object.assign(proxy.trouble, { bytesPerSecond })
    proxy.cut()
    await untilForwarded(bed, 3000)
  }
  proxy.calm()
  await until('the backlog is drained', async () => (await bed.service.status()).lag.readings === 0)
  bed.tally.notes.push(`${limits.refused} requests were answered 413`)
})

async function untilForwarded({ service }: TestBed, readings: number): Promise<void> {
  const before = (await service.status()).lag.readings
  await until('some of the backlog is taken', async () => {
    const { lag } = await service.status()
    return lag.readings === 0 || lag.readings <= before - readings
  })
}

/**
 * A device and a series of a station whose rows are refused: they are put aside, the others go on, and sent again they are
 * all there.
 */
export const poisonRow = eachCycle({ perSecond: 100, points: true }, async bed => {
  const proxy = await startAnsweringProxy(bed.hooks, bed.proxy.target)
  const keys = [`device=${bed.devices[2]?.name ?? ''}-`, await seriesKey(bed)].map(text => Buffer.from(text))
  proxy.decide = body => {
    const isPoisoned = keys.some(key => body.includes(key))
    return isPoisoned ? { status: 400, message: 'error in line 1' } : undefined
  }
  bed.proxy.target = proxy.port
  bed.proxy.cut()
  await until('a reading and a point are put aside', async () => {
    const { dead_letters: ofReadings, points } = await bed.service.status()
    return ofReadings > 0 && points.dead_letters > 0
  })
  await sleep(1500)
  await bed.load.stop()
  await until('all others are there', async () => (await lagOf(bed)) === 0)
  proxy.decide = () => undefined
  await replayLetters(bed)
})

/** A series of a station as its rows have it on their way to QuestDB. */
async function seriesKey({ databases, stations }: TestBed): Promise<string> {
  const [number = 0] = (await readSeriesNames(databases.postgresUrl, stations.slice(1, 2))).keys()
  return ` series=${String(number).padStart(8, '0')}i`
}

async function lagOf({ service }: TestBed): Promise<number> {
  const { lag, points } = await service.status()
  return lag.readings + points.lag.points
}

async function replayLetters(bed: TestBed): Promise<void> {
  const { service, tally } = bed
  await until('nothing waits', async () => (await lagOf(bed)) < 500)
  const { dead_letters: ofReadings, points } = await service.status()
  const letters = ofReadings + points.dead_letters
  if (letters === 0) return
  tally.notes.push(`${letters} dead letters sent again`)
  const { status, body } = await service.admin('POST', '/dead-letters/replay', {})
  if (status !== 200) tally.problems.push(`dead letters: ${status} ${JSON.stringify(body)}`)
}

/** A suspended table takes rows and shows none; the journal keeps them until they are applied. */
export const suspendTable = eachCycle({ environment: { JOURNAL_MAX: '4MiB' } }, async bed => {
  await sleep(1000)
  await suspendAndLose(bed)
  await sleep(500)
})

/**
 * What QuestDB had sequenced and not applied is lost there while the service is down, as by a power cut without sync.
 * A journal that was trimmed at the 204 would not have it any more.
 */
async function suspendAndLose(bed: TestBed): Promise<void> {
  const { databases, service } = bed
  const { sql } = databases
  await until('the suspension is logged', async () => {
    // Rows that are just being applied go on as if nothing had been said, and so do those behind them.
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
