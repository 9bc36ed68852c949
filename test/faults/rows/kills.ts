/** Rows 1 and 3: the service, or everything, is killed or told to stop, while readings and points come in. */

import { makeClient } from '../../../store/postgres/postgres-connect.ts'
import { isRunning, recordedPid, until } from '../../support/processes.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import type { Tally } from '../tally.ts'
import { dieAt } from './crash-points.ts'

/** Kills of one experiment, behind which everything is judged. */
const killsPerExperiment = 10
/** Besides single readings by HTTP, of which a part has idempotency keys. */
const ways = { mqttDevices: 10, keyed: true }
const fewWays = { mqttDevices: 4, keyed: true, pointRequestsPerSecond: 10 }

export async function killService(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let done = 0; done < cycles; done += killsPerExperiment) {
    const kills = Math.min(killsPerExperiment, cycles - done)
    await experiment(harness, { seed: seed + done, tally, importEveryMs: 1500, points: true, ...ways }, async bed => {
      for (let kill = 0; kill < kills; kill++) {
        await underLoad(bed)
        if (kill % 3 === 1) await revokeSome(bed)
        await bed.kill()
        await bed.service.start()
      }
      await bed.untilAcknowledged(100)
    })
  }
}

/** With databases of its own, which die in the same moment. */
export async function killEverything(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let done = 0; done < cycles; done += killsPerExperiment) {
    const kills = Math.min(killsPerExperiment, cycles - done)
    const options = { seed: seed + done, tally, importEveryMs: 1500, ownDatabases: true, points: true, ...ways }
    await experiment(harness, options, async bed => {
      for (let kill = 0; kill < kills; kill++) {
        await underLoad(bed)
        const directory = { path: bed.service.dataDirectory }
        const pids = (['questdb', 'postgres'] as const).map(server => recordedPid(directory, server))
        const running = pids.filter(pid => pid !== undefined).filter(isRunning)
        for (const pid of running) process.kill(pid, 'SIGKILL')
        tally.crashes += running.length
        await bed.kill()
        await until('the databases are gone', () => !running.some(isRunning))
        await bed.service.start()
      }
      await bed.untilAcknowledged(100)
    })
  }
}

/**
 * One experiment with a kill of the service, two deaths at dangerous lines, and a kill of everything. The load is low: what is
 * judged costs as much as what is killed.
 */
export async function killInShort(harness: Harness, tally: Tally, seed: number): Promise<void> {
  const options = { seed, tally, points: true, perSecond: 80, importEveryMs: 1500, ...fewWays }
  await experiment(harness, options, async bed => {
    const { service, databases } = bed
    await bed.untilAcknowledged(50)
    await revokeSome(bed)
    await bed.kill()
    await dieAt(bed, 'after-ack', 'readings', { losesUnsynced: true, passShare: 0.05 })
    await dieAt(bed, 'after-forward', 'readings', { losesUnsynced: false, passShare: 0.05 })
    await service.start()
    await bed.untilAcknowledged(50)
    await Promise.all([databases.kill('questdb'), databases.kill('postgres'), bed.kill()])
    tally.crashes += 2
    await until('PostgreSQL is up', () => answers(databases.postgresUrl))
    await service.start()
    await bed.untilAcknowledged(50)
  })
}

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

export async function stopService(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  let longestMs = 0
  for (let done = 0; done < cycles; done += killsPerExperiment) {
    const stops = Math.min(killsPerExperiment, cycles - done)
    await experiment(harness, { seed: seed + done, tally, importEveryMs: 1000, points: true, ...ways }, async bed => {
      for (let stop = 0; stop < stops; stop++) {
        await underLoad(bed)
        const startedMs = performance.now()
        const code = await bed.service.end('SIGTERM')
        const elapsedMs = performance.now() - startedMs
        longestMs = Math.max(longestMs, elapsedMs)
        if (code !== 0) tally.problems.push(`a stop ended with ${code}`)
        await bed.service.start()
      }
      await bed.untilAcknowledged(100)
    })
  }
  tally.notes.push(`longest stop ${Math.round(longestMs)} ms`)
}

/** Some moment in which readings come in. */
function underLoad({ random, untilAcknowledged }: TestBed): Promise<void> {
  return untilAcknowledged(1 + random.below(800))
}

async function revokeSome(bed: TestBed): Promise<void> {
  const [first, ...others] = bed.devices.slice(1, -1)
  if (first === undefined) return
  await bed.revoke(bed.random.pick([first, ...others]).name)
  await bed.untilAcknowledged(80)
}
