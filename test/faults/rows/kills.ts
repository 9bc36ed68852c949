/** Rows 1 to 3 and 14: the service, or everything, is killed or stopped, at random moments and at critical lines. */

import { makeClient } from '../../../store/postgres/postgres-connect.ts'
import { isRunning, recordedPid, until } from '../../support/processes.ts'
import { eachCycle, experiment, type Harness, type TestBed, tenAtATime } from '../experiment.ts'
import { type FaultRows, failPoints, faultRows, injecting, journalPoints } from '../injection/settings.ts'
import type { LoadOptions } from '../loads.ts'
import type { Tally } from '../tally.ts'

/** Added to single readings by HTTP, some with idempotency keys. */
const ways = { mqttDevices: 10, keyed: true }

export const killService = tenAtATime({ importEveryMs: 1500, points: true, ...ways }, async (bed, count) => {
  for (let kill = 0; kill < count; kill++) {
    await underLoad(bed)
    if (kill % 3 === 1) await revokeSome(bed)
    await bed.kill()
    await bed.service.start()
  }
  await bed.untilAcknowledged(100)
})

export const killEverything = tenAtATime(
  { importEveryMs: 1500, ownDatabases: true, points: true, ...ways },
  async (bed, count) => {
    for (let kill = 0; kill < count; kill++) {
      await underLoad(bed)
      const directory = { path: bed.service.dataDirectory }
      const pids = (['questdb', 'postgres'] as const).map(server => recordedPid(directory, server))
      const running = pids.filter(pid => pid !== undefined).filter(isRunning)
      for (const pid of running) process.kill(pid, 'SIGKILL')
      bed.tally.crashes += running.length
      await bed.kill()
      await until('the databases are gone', () => !running.some(isRunning))
      await bed.service.start()
    }
    await bed.untilAcknowledged(100)
  },
)

/**
 * One experiment with a kill of the service, its death at a critical line, and a kill of everything. The load is low, since
 * judging costs as much as killing.
 */
export const killInShort = eachCycle(
  { points: true, perSecond: 40, importEveryMs: 1500, mqttDevices: 4, keyed: true, pointRequestsPerSecond: 5 },
  async bed => {
    const { service, databases } = bed
    await bed.untilAcknowledged(50)
    await revokeSome(bed)
    await bed.kill()
    await dieAt(bed, 'after-ack', 'readings', { losesUnsynced: true, passShare: 0.05 })
    await service.start()
    await bed.untilAcknowledged(50)
    await Promise.all([databases.kill('questdb'), databases.kill('postgres'), bed.kill()])
    bed.tally.crashes += 2
    await until('PostgreSQL is up', () => answers(databases.postgresUrl))
    await service.start()
    await bed.untilAcknowledged(50)
  },
)

async function answers(connectionString: string): Promise<boolean> {
  const client = makeClient({ connectionString })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

export const stopService = tenAtATime({ importEveryMs: 1000, points: true, ...ways }, async (bed, count) => {
  let longestMs = 0
  for (let stop = 0; stop < count; stop++) {
    await underLoad(bed)
    const startedMs = performance.now()
    const code = await bed.service.end('SIGTERM')
    longestMs = Math.max(longestMs, performance.now() - startedMs)
    if (code !== 0) bed.tally.problems.push(`a stop ended with ${code}`)
    await bed.service.start()
  }
  await bed.untilAcknowledged(100)
  bed.tally.notes.push(`longest stop ${Math.round(longestMs)} ms`)
})

function underLoad({ random, untilAcknowledged }: TestBed): Promise<void> {
  return untilAcknowledged(1 + random.below(800))
}

async function revokeSome(bed: TestBed): Promise<void> {
  await bed.revoke(bed.anyDevice())
  await bed.untilAcknowledged(80)
}

type DeadlyPoint = (typeof failPoints)[number]
/** The maximum of passes before a death. A group passes its points many times a second, a file rarely. */
const passesMax: Record<DeadlyPoint, number> = {
  ...{ 'after-append': 150, 'after-sync': 150, 'after-ack': 600, 'after-forward': 5, 'after-taken': 5 },
  ...{ 'segment-roll': 2, 'segment-delete': 2, 'checkpoint-rename': 3, 'directory-sync': 2 },
  ...{ 'stamp-reserved': 20, 'key-claimed': 20 },
}

/** These loads put the work on the journal of the rows. One publisher does not wait for its acknowledgements. */
const deadlyLoads = {
  readings: {
    ...{ perSecond: 900, importEveryMs: 400, importReadings: 800 },
    ...{ keyed: true, busyDevices: 2, mqttDevices: 12 },
  },
  points: { perSecond: 200, points: true, pointRequestsPerSecond: 300 },
} satisfies Record<FaultRows, Omit<LoadOptions, 'seed'>>

/** Cycles through the points of the journal, the forwarder and idempotency keys. Points of stations have no keys. */
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
    // Small segments roll and are deleted during the run.
    const options = { seed: seed + round, tally, ...deadlyLoads[rows], environment: { JOURNAL_MAX: '2MiB' } }
    await experiment(harness, options, async bed => {
      await bed.service.end('SIGTERM')
      // Every second death also loses unsynced data, as a power cut does.
      const possible = rows === 'points' ? points.filter(point => journalPoints.some(other => other === point)) : points
      for (const point of possible) await dieAt(bed, point, rows, { losesUnsynced: round % 2 === 1 })
      await bed.service.start()
      await bed.untilAcknowledged(100)
    })
  }
}

/** Its start recovers from the previous death. `passShare` scales the maximum of passes: a lower load needs fewer for as many deaths. */
async function dieAt(
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

/** Readings of a backlog, mostly from bulk imports. */
const backlogImport = 20_000
const backlogImports = 3
const slowBytesPerSecond = 1_500_000
const rowBytes = 150

/** Kills at 10, 50 and 99 % of a backlog while live readings arrive. */
export const killInReplay = eachCycle(
  { importEveryMs: 300, importReadings: backlogImport, importsMax: backlogImports + 1 },
  async bed => {
    const { service, proxy } = bed
    const lagOf = async () => (await service.status()).lag.readings
    proxy.trouble.refuses = true
    proxy.cut()
    await until('there is a backlog', async () => (await lagOf()) > backlogImport * backlogImports)
    proxy.trouble.bytesPerSecond = slowBytesPerSecond
    for (const share of [0.1, 0.5, 0.99]) {
      await service.end('SIGTERM')
      proxy.trouble.refuses = false
      await service.start()
      const total = Math.max(1, await lagOf())
      const fromBytes = proxy.bytesUp
      const isSent = () => proxy.bytesUp - fromBytes >= total * rowBytes * share
      await until(`${share * 100} % is sent`, async () => isSent() || (await lagOf()) < total * 0.01)
      bed.tally.notes.push(`killed at ${share * 100} % of ${total}`)
      await bed.kill()
      await service.start()
    }
    proxy.calm()
  },
)
