/** Rows 2 and 14: the service dies at the dangerous line, and while it sends again what it had not sent. */

import { until } from '../../support/processes.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { type FaultRows, failPoints, faultRows, injecting, journalPoints } from '../injection/settings.ts'
import type { LoadOptions } from '../loads.ts'
import type { Tally } from '../tally.ts'

/** Small segments, so that they roll and go while we watch. */
const smallJournal = { JOURNAL_MAX: '2MiB' }

type DeadlyPoint = (typeof failPoints)[number]
/** How many passes there may be before the deadly one: those of a group are many a second, those of a file few. */
const passesMax: Record<DeadlyPoint, number> = {
  'after-append': 150,
  'after-sync': 150,
  'after-ack': 600,
  'after-forward': 5,
  'after-taken': 5,
  'segment-roll': 2,
  'segment-delete': 2,
  'checkpoint-rename': 3,
  'directory-sync': 2,
  'stamp-reserved': 20,
  'key-claimed': 20,
}

/** So that the journal of these rows is the one with the work. */
const loads = {
  readings: {
    perSecond: 900,
    importEveryMs: 400,
    importReadings: 800,
    keyed: true,
    // Of those that publish one does not wait for its answers.
    busyDevices: 2,
    mqttDevices: 12,
  },
  points: { perSecond: 200, points: true, pointRequestsPerSecond: 300 },
} satisfies Record<FaultRows, Omit<LoadOptions, 'seed'>>

/** At the points of the journal, of the forwarder and of idempotency keys, in turns. Points of stations have no keys. */
export async function dieAtPoints(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  points: readonly DeadlyPoint[] = failPoints,
  kinds: readonly FaultRows[] = faultRows,
): Promise<void> {
  const rounds = Math.max(1, Math.round(cycles / points.length))
  for (let round = 0; round < rounds; round++) {
    const rows = kinds[Math.floor(round / 2) % kinds.length] ?? 'readings'
    const options = { seed: seed + round, tally, ...loads[rows], environment: smallJournal }
    await experiment(harness, options, async bed => {
      await bed.service.end('SIGTERM')
      // In turns, what was not synced goes too, as it does with the power.
      const possible = rows === 'points' ? points.filter(point => journalPoints.some(other => other === point)) : points
      for (const point of possible) await dieAt(bed, point, rows, { losesUnsynced: round % 2 === 1 })
      await bed.service.start()
      await bed.untilAcknowledged(100)
    })
  }
}

/**
 * The start for it recovers from the death before. `passShare`: of the passes that there may be before a death; with less load
 * between two deaths, more of the time are deaths.
 */
export async function dieAt(
  { service, random, noteCrash }: TestBed,
  point: DeadlyPoint,
  rows: FaultRows,
  { losesUnsynced, passShare = 1 }: { losesUnsynced: boolean; passShare?: number },
): Promise<void> {
  const pass = 1 + random.below(Math.ceil(passesMax[point] * passShare))
  const power = losesUnsynced ? ({ FAULT_LOSE_UNSYNCED: '1' } as const) : {}
  service.launch(injecting({ FAIL_POINT: `${point}:${pass}`, FAIL_ROWS: rows, ...power }))
  await service.ended(`a death at ${point}:${pass} of ${rows}`)
  noteCrash()
}

/** Readings of a backlog, most of them from bulk imports. */
const backlogImport = 20_000
const backlogImports = 3
const slowBytesPerSecond = 1_500_000
/** Of a row on its way to QuestDB, about. */
const rowBytes = 150

/** At 10, 50 and 99 % of a backlog, with live readings coming in all the while. */
export async function killInReplay(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  const shares = [0.1, 0.5, 0.99]
  for (let cycle = 0; cycle < Math.ceil(cycles / shares.length); cycle++) {
    const imports = { importEveryMs: 300, importReadings: backlogImport, importsMax: backlogImports + 1 }
    const options = { seed: seed + cycle, tally, ...imports }
    await experiment(harness, options, async bed => {
      const { service, proxy } = bed
      proxy.trouble.refuses = true
      proxy.cut()
      await until('there is a backlog', async () => (await lagOf(bed)) > backlogImport * backlogImports)
      proxy.trouble.bytesPerSecond = slowBytesPerSecond
      for (const share of shares) {
        await service.end('SIGTERM')
        proxy.trouble.refuses = false
        await service.start()
        const total = Math.max(1, await lagOf(bed))
        const fromBytes = proxy.bytesUp
        const isSent = () => proxy.bytesUp - fromBytes >= total * rowBytes * share
        await until(`${share * 100} % is sent`, async () => isSent() || (await lagOf(bed)) < total * 0.01)
        tally.notes.push(`killed at ${share * 100} % of ${total}`)
        await bed.kill()
        await service.start()
      }
      proxy.calm()
    })
  }
}

async function lagOf({ service }: TestBed): Promise<number> {
  return (await service.status()).lag.readings
}
