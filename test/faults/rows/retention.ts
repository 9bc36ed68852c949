/** Row 28: a clock that is ahead while raw readings expire. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Status } from '../../../api/admin/status-answer.ts'
import { until } from '../../support/processes.ts'
import { type ClockPeriod, periodsIn } from '../clock-periods.ts'
import { type Change, copySource } from '../copy-source.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { injecting } from '../injection/settings.ts'
import type { Tally } from '../tally.ts'

/** More than the load sends late. */
const retentionDays = 4
const aheadSeconds = [31_536_000, 5 * 86_400] as const
const tellMsMax = 20_000

/** In seconds what takes hours: a service that is stopped before its first margin is over removes nothing. */
const quickRetention: Change[] = [
  { file: 'service/open-retention.ts', from: 'const marginMs = 60 * minuteMs', to: 'const marginMs = 2000' },
  { file: 'service/open-retention.ts', from: 'const checkEveryMs = minuteMs', to: 'const checkEveryMs = 300' },
  {
    file: 'service/open-retention.ts',
    from: 'graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + minuteMs',
    to: 'graceMs: 0',
  },
]

/** A year or five days ahead for longer than the margin: no acknowledged reading expires, and the status tells that days wait. */
export async function clockAheadOfRetention(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
): Promise<void> {
  const source = join(harness.folder, `quick-retention-${seed}`)
  copySource(harness.source, source, quickRetention)
  for (let cycle = 0; cycle < cycles; cycle++) {
    const clockFile = join(source, `clock-${cycle}`)
    const firstStart = injecting({ FAULT_CLOCK_FILE: clockFile })
    const clock: ClockPeriod[] = []
    const environment = { RETENTION_DAYS: String(retentionDays) }
    const options = { seed: seed + cycle, tally, ownDatabases: true, environment, firstStart, judging: { clock } }
    await experiment({ ...harness, source }, options, async bed => {
      const { service } = bed
      const logged = (text: string) => until(text, () => service.output().includes(`"msg":"${text}"`))
      await bed.untilAcknowledged(500)
      writeFileSync(clockFile, String(aheadSeconds[cycle % 2]))
      await logged('clock stepped forward')
      await complainUnlessWaiting(bed)
      // Longer than the margin.
      await sleep(6000)
      writeFileSync(clockFile, '0')
      await logged('clock stepped back')
      await until('no day waits by the right clock', async () => (await waitingOf(bed)) === null)
      const { expired_days } = (await service.status()).retention
      if (expired_days > 0) tally.problems.push(`${expired_days} days expired`)
      clock.push(...periodsIn(service.output(), 0, 0))
    })
  }
}

async function waitingOf({ service }: TestBed): Promise<Status['retention']['waiting']> {
  return (await service.status()).retention.waiting
}

/** A day that has expired waits no more, so this must not wait for ever. */
async function complainUnlessWaiting(bed: TestBed): Promise<void> {
  const endMs = performance.now() + tellMsMax
  while (performance.now() < endMs) {
    if ((await waitingOf(bed))?.reason === 'several_days') return
    await sleep(100)
  }
  bed.tally.problems.push('the status does not tell that days wait')
}
