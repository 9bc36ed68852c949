/** Rows 6 and 7: QuestDB is killed, frozen, or away for a while. Readings are acknowledged all the time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '../../support/wait-for.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { type Attempt, isAcknowledged } from '../ledger.ts'
import type { Tally } from '../tally.ts'

const killsPerExperiment = 10
/**
 * No reading may wait for a database: who waits for one that is away is silent for as long as it is. A slow machine is
 * silent now and then.
 */
const silenceShareMax = 0.5

export async function killQuestdb(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let done = 0; done < cycles; done += killsPerExperiment) {
    await experiment(harness, { seed: seed + done, tally, importEveryMs: 2000, points: true }, async bed => {
      const fromMs = Date.now()
      for (let kill = 0; kill < Math.min(killsPerExperiment, cycles - done); kill++) {
        await sleep(300 + bed.random.below(3000))
        await bed.databases.kill('questdb')
        tally.crashes++
        await sleep(2500)
      }
      await complainOfSilence(bed, fromMs)
    })
  }
}

/** Long enough for the deadline of a request to fire. */
const frozenMs = 35_000

export async function freezeQuestdb(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 200 }, async bed => {
      await sleep(1000)
      const fromMs = Date.now()
      const pid = bed.databases.pid('questdb')
      process.kill(pid, 'SIGSTOP')
      bed.hooks.teardown(() => process.kill(pid, 'SIGCONT'))
      await sleep(frozenMs)
      process.kill(pid, 'SIGCONT')
      await complainOfSilence(bed, fromMs)
    })
  }
}

const outageMs = 40_000

export async function outageOfQuestdb(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 1500, devices: 80, points: true }, async bed => {
      const { service, proxy } = bed
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
      await untilLow(bed, 2000)
      const drainedMs = performance.now() - startedMs
      tally.notes.push(`${waiting} readings of a ${outageMs / 1000} s outage drained in ${Math.round(drainedMs)} ms`)
      await complainOfSilence(bed, fromMs)
    })
  }
}

function untilLow({ service }: TestBed, readings: number): Promise<void> {
  return waitFor('the backlog is drained', async () => (await service.status()).lag.readings <= readings)
}

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
