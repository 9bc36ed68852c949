/** Rows 13 and 28: a wrong clock. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { periodsIn, setClockFile } from '../clock.ts'
import { type Change, copySource } from '../copy-source.ts'
import { eachCycle, type Harness, type Run, type TestBed } from '../experiment.ts'
import { injecting } from '../injection/settings.ts'

/** An hour ahead, an hour behind, five minutes behind, then correct. The next start has an earlier clock. */
const jumps = '1:3600,2.5:-3600,4:-300,5.5:0'

/** A reading's time may be rejected while the clock is wrong. Accepted readings are stored once and in order, by the clock. */
export const wrongClock = eachCycle({ firstStart: injecting({ FAULT_CLOCK: jumps }) }, async bed => {
  const clock = followClock(bed)
  await sleep(7000)
  await clock.restart(-3_600_000, injecting({ FAULT_CLOCK: '0:-3600,2:1' }))
  await sleep(3000)
  await clock.restart()
  await bed.untilTaken()
  clock.learn()
})

/** Collects the clock offsets of all processes of an experiment. The first process starts with the correct clock. */
export function followClock({ clock, kill, service }: TestBed) {
  let startedMs = 0
  let offsetMs = 0
  const learn = () => void clock.push(...periodsIn(service.output(), startedMs, offsetMs))
  return {
    learn,
    async restart(atStartMs = 0, more: Record<string, string> = {}): Promise<void> {
      await kill()
      learn()
      startedMs = Date.now()
      offsetMs = atStartMs
      await service.start(more)
    },
  }
}

const reportMsMax = 20_000

/** Hours are scaled to seconds. A service that stops within its first margin removes nothing. */
const quickRetention = (
  [
    ['const marginMs = 60 * minuteMs', 'const marginMs = 2000'],
    ['const checkEveryMs = minuteMs', 'const checkEveryMs = 300'],
    ['graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + minuteMs', 'graceMs: 0'],
  ] as const
).map(([from, to]): Change => ({ file: 'service/open-retention.ts', from, to }))

/**
 * The clock is a year or five days ahead for longer than the margin. No acknowledged reading expires. The status reports pending
 * days.
 */
const expireWithClock = eachCycle(
  // More days than the load sends late.
  (cycle, { source }) => ({
    ...{ ownDatabases: true, environment: { RETENTION_DAYS: '4' } },
    firstStart: injecting({ FAULT_CLOCK_FILE: join(source, `clock-${cycle}`) }),
  }),
  async (bed, cycle, { source }) => {
    const { service, tally } = bed
    const clockFile = join(source, `clock-${cycle}`)
    const logged = (text: string) => until(text, () => service.output().includes(`"msg":"${text}"`))
    const waiting = async () => (await service.status()).retention.waiting
    await bed.untilAcknowledged(500)
    setClockFile(clockFile, cycle % 2 === 0 ? 31_536_000 : 5 * 86_400)
    await logged('clock stepped forward')
    // A day that has expired is not pending, so this loop needs a limit.
    const endMs = performance.now() + reportMsMax
    while ((await waiting())?.reason !== 'several_days' && performance.now() < endMs) await sleep(100)
    if (performance.now() >= endMs) tally.problems.push('the status does not report pending days')
    // This exceeds the margin.
    await sleep(6000)
    setClockFile(clockFile, 0)
    await logged('clock stepped back')
    await until('no day waits by the right clock', async () => (await waiting()) === null)
    const { expired_days } = (await service.status()).retention
    if (expired_days > 0) tally.problems.push(`${expired_days} days expired`)
    followClock(bed).learn()
  },
)

export const clockAheadOfRetention: Run<Harness> = async (harness, tally, seed, cycles) => {
  const source = join(harness.folder, `quick-retention-${seed}`)
  copySource(harness.source, source, quickRetention)
  await expireWithClock({ ...harness, source }, tally, seed, cycles)
}
