/** Rows 12, 13 and 22: a disk that takes seconds for a sync, and a clock that jumps. */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { type ClockPeriod, periodsIn } from '../clock-periods.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { injecting } from '../injection/settings.ts'
import type { Tally } from '../tally.ts'

const residentBytesMax = 600 * 1024 * 1024

export async function slowDisk(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const firstStart = injecting({ FAULT_SYNC_MS: '200..2000' })
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 1500, firstStart }, async bed => {
      await sleep(9000)
      const bytes = await metricOf(bed.service.port, 'process_resident_memory_bytes')
      if (bytes > residentBytesMax) tally.problems.push(`the service holds ${Math.round(bytes / 1024 / 1024)} MiB`)
      await bed.kill()
      await bed.service.start()
      await sleep(500)
    })
  }
}

async function metricOf(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? Number.NaN)
}

/** An hour ahead, an hour behind, five minutes behind, back to what is right; then a start with an earlier clock. */
const jumps = '1:3600,2.5:-3600,4:-300,5.5:0'

/** A reading's own time may be refused while the clock is wrong; what is taken is stored once, in order, where the clock was. */
export async function wrongClock(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const clock = createClockLog(injecting({ FAULT_CLOCK: jumps }))
    const options = { seed: seed + cycle, tally, firstStart: clock.environment, judging: { clock: clock.periods } }
    await experiment(harness, options, async bed => {
      await sleep(7000)
      await clock.restart(bed, injecting({ FAULT_CLOCK: '0:-3600,2:1' }), -3_600_000)
      await sleep(3000)
      await clock.restart(bed, {}, 0)
      await untilTaken(bed)
      clock.learn(bed)
    })
  }
}

const aheadSeconds = [3600, 31_536_000] as const

/** An hour or a year ahead for three seconds, then right, and a restart: stamps follow, and health and metrics tell. */
export async function clockAhead(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const clock = createClockLog(injecting({ FAULT_CLOCK: `10:${aheadSeconds[cycle % 2]},13:0` }))
    const options = { seed: seed + cycle, tally, firstStart: clock.environment, judging: { clock: clock.periods } }
    await experiment(harness, options, async bed => {
      const { service } = bed
      await until('the clock is right again', () => service.output().includes('"msg":"clock stepped back"'))
      await sleep(2000)
      if ((await metricOf(service.port, 'barograph_clock_steps_total')) !== 2) tally.problems.push('steps not counted')
      // On a slow machine the three seconds may be over before the load begins.
      const wasUsed = tookWhileAhead(bed)
      if (wasUsed) await complainUnlessAhead(bed)
      else tally.notes.push('nothing was sent while the clock was ahead')
      await clock.restart(bed, {}, 0)
      await untilTaken(bed)
      if (wasUsed) await complainUnlessAhead(bed)
      clock.learn(bed)
    })
  }
}

function tookWhileAhead({ service, ledger }: TestBed): boolean {
  const [, ahead, right] = periodsIn(service.output(), 0, 0)
  const [fromMs, toMs] = [ahead?.fromMs ?? 0, right?.fromMs ?? 0]
  const live = ledger().attempts.filter(({ status, timeMs }) => status === 200 && timeMs === undefined)
  return live.some(({ startMs, endMs = toMs }) => startMs > fromMs && endMs < toMs)
}

async function complainUnlessAhead({ service, tally }: TestBed): Promise<void> {
  const { reasons } = await service.ready()
  if (!reasons.some(reason => reason.includes('ahead of the clock'))) tally.problems.push('health does not tell')
  if (!((await metricOf(service.port, 'barograph_stamp_ahead_seconds')) > 1000)) {
    tally.problems.push('metrics do not tell')
  }
}

async function untilTaken(bed: TestBed): Promise<void> {
  const fromMs = Date.now()
  await until('readings are taken', () =>
    bed.ledger().attempts.some(({ status, startMs }) => status === 200 && startMs > fromMs),
  )
}

/** Collects what the clocks of all processes of an experiment said; the first one's is right at its start. */
function createClockLog(environment: Record<string, string>) {
  const periods: ClockPeriod[] = []
  let startedMs = 0
  let offsetMs = 0

  function learn({ service }: TestBed): void {
    periods.push(...periodsIn(service.output(), startedMs, offsetMs))
  }

  return {
    environment,
    periods,
    learn,
    async restart(bed: TestBed, more: Record<string, string>, atStartMs: number): Promise<void> {
      await bed.kill()
      learn(bed)
      startedMs = Date.now()
      offsetMs = atStartMs
      await bed.service.start(more)
    },
  }
}
