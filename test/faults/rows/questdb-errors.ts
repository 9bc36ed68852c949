/** Row 8: QuestDB answers late, slowly, in pieces, with internal errors, or not at all. */

import { setTimeout as sleep } from 'node:timers/promises'
import { readingsTable } from '../../../store/tables.ts'
import { until } from '../../support/processes.ts'
import { startAnsweringProxy } from '../answering-proxy.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { readSeriesNames } from '../station-route.ts'
import type { Tally } from '../tally.ts'
import type { Trouble } from '../tcp-proxy.ts'
import { complainOfSilence } from './questdb.ts'

const troubles: Record<string, Partial<Trouble>> = {
  '2 s latency': { latencyMs: 2000 },
  '10 kB/s': { bytesPerSecond: 10_000 },
  resets: { resetChance: 0.3 },
  'split packets': { pieceBytes: 7 },
  'late by chance': { latencyMs: 900, latencyChance: 0.5 },
  'half open': { silent: true },
}
const troubleMs = 6000

export async function disturbNetwork(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, importEveryMs: 3000 }, async bed => {
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
  }
}

/** A server that answers 500 now and then, whatever it is sent. */
export async function internalErrors(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, importEveryMs: 1500 }, async bed => {
      const proxy = await startAnsweringProxy(bed.hooks, bed.proxy.target)
      proxy.decide = () => (bed.random.chance(0.3) ? { status: 500, message: 'internal error' } : undefined)
      bed.proxy.target = proxy.port
      bed.proxy.cut()
      await sleep(6000)
      proxy.decide = () => undefined
      if (proxy.refused === 0) tally.problems.push('no error was injected')
      await replayLetters(bed)
    })
  }
}

/** A backlog over links of 50 and 150 kB/s, and through a proxy that takes no long requests. */
export async function slowLink(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const load = { perSecond: 1500, importEveryMs: 2000, importReadings: 2000 }
    await experiment(harness, { seed: seed + cycle, tally, ...load }, async bed => {
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
      if (limits.refused === 0) tally.problems.push('no request was long')
      proxy.target = target
      for (const bytesPerSecond of [150_000, 50_000]) {
        Object.assign(proxy.trouble, { bytesPerSecond })
        proxy.cut()
        await untilForwarded(bed, 3000)
      }
      proxy.calm()
      await until('the backlog is drained', async () => (await bed.service.status()).lag.readings === 0)
      tally.notes.push(`${limits.refused} requests were answered 413`)
    })
  }
}

/** Until so many more readings were taken, or none waits. */
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
export async function poisonRow(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 100, points: true }, async bed => {
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
  }
}

/** A series of a station as its rows have it on their way to QuestDB. */
async function seriesKey({ databases, stations }: TestBed): Promise<string> {
  const [number = 0] = (await readSeriesNames(databases.postgresUrl, stations.slice(1, 2))).keys()
  return ` series=${String(number).padStart(8, '0')}i`
}

/** Readings and points. */
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
export async function suspendTable(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, environment: { JOURNAL_MAX: '4MiB' } }, async bed => {
      await sleep(1000)
      await suspendAndLose(bed)
      await sleep(500)
    })
  }
}

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
