/** Rows 6 and 7: QuestDB is killed, frozen, or away for a while. Readings are acknowledged all the time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { experiment, type Harness, type Stand } from '../stand.ts'
import type { Tally } from '../tally.ts'

const killsPerExperiment = 10
/** No reading may wait for a database. */
const silenceMsMax = 3000

export async function killQuestdb(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let done = 0; done < cycles; done += killsPerExperiment) {
    await experiment(harness, { seed: seed + done, tally, importEveryMs: 2000 }, async stand => {
      const fromMs = Date.now()
      for (let kill = 0; kill < Math.min(killsPerExperiment, cycles - done); kill++) {
        await sleep(300 + stand.random.below(3000))
        await stand.databases.kill('questdb')
        tally.crashes++
        await sleep(2500)
      }
      await complainOfSilence(stand, fromMs)
    })
  }
}

/** Long enough for the deadline of a request to fire. */
const frozenMs = 35_000

export async function freezeQuestdb(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 200 }, async stand => {
      await sleep(1000)
      const fromMs = Date.now()
      const pid = stand.databases.pid('questdb')
      process.kill(pid, 'SIGSTOP')
      stand.hooks.teardown(() => process.kill(pid, 'SIGCONT'))
      await sleep(frozenMs)
      process.kill(pid, 'SIGCONT')
      await complainOfSilence(stand, fromMs)
    })
  }
}

const outageMs = 40_000
/** Ten minutes of backlog are drained in two, while readings come in. */
const drainShare = 0.2

export async function outageOfQuestdb(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 1500, devices: 80 }, async stand => {
      const { service, proxy } = stand
      await sleep(1000)
      const fromMs = Date.now()
      const before = await service.status()
      proxy.trouble.refuses = true
      proxy.cut()
      await sleep(outageMs)
      const { code, status } = await service.ready()
      if (code !== 200 || status !== 'degraded') tally.complaints.push(`in an outage readiness says ${code} ${status}`)
      const after = await service.status()
      const taken = after.journal.readings - before.journal.readings
      const waiting = after.lag.readings
      // What was taken is what waits: nothing is thrown away, and nothing else fills the journal.
      if (waiting < taken * 0.9) tally.complaints.push(`of ${taken} readings only ${waiting} wait`)
      proxy.calm()
      const startedMs = performance.now()
      await untilLow(stand, 2000)
      const drainedMs = performance.now() - startedMs
      if (drainedMs > outageMs * drainShare) tally.complaints.push(`drained in ${Math.round(drainedMs)} ms`)
      tally.notes.push(`${waiting} readings of a ${outageMs / 1000} s outage drained in ${Math.round(drainedMs)} ms`)
      await complainOfSilence(stand, fromMs)
    })
  }
}

async function untilLow({ service }: Stand, readings: number): Promise<void> {
  while ((await service.status()).lag.readings > readings) await sleep(50)
}

/** Readings were acknowledged all the time, with no long pause. */
export async function complainOfSilence(stand: Stand, fromMs: number): Promise<void> {
  const toMs = Date.now()
  await sleep(100)
  const ends = stand
    .ledger()
    .attempts.filter(({ status, endMs }) => status === 200 && endMs !== undefined)
    .map(({ endMs }) => endMs ?? 0)
    .filter(endMs => endMs >= fromMs && endMs <= toMs)
    .sort((a, b) => a - b)
  let longestMs = 0
  let lastMs = fromMs
  for (const endMs of [...ends, toMs]) {
    longestMs = Math.max(longestMs, endMs - lastMs)
    lastMs = endMs
  }
  if (longestMs > silenceMsMax) stand.tally.complaints.push(`no acknowledgement for ${longestMs} ms`)
}
