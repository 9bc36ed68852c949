/** Rows 12 and 13: a disk that takes seconds for a sync, and a clock that jumps. */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { experiment, type Harness } from '../stand.ts'
import type { Tally } from '../tally.ts'

const residentBytesMax = 600 * 1024 * 1024

export async function slowDisk(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const firstStart = { FAULTS: '1', FAULT_SYNC_MS: '200..2000' }
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 1500, firstStart }, async stand => {
      await sleep(9000)
      const bytes = await residentBytes(stand.service.port)
      if (bytes > residentBytesMax) tally.complaints.push(`the service holds ${Math.round(bytes / 1024 / 1024)} MiB`)
      await stand.kill()
      await stand.service.start()
      await sleep(500)
    })
  }
}

async function residentBytes(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(await response.text())?.[1] ?? Number.NaN)
}

/** An hour ahead, an hour behind, five minutes behind, back to what is right; then a start with an earlier clock. */
const jumps = '1:3600,2.5:-3600,4:-300,5.5:0'

/** A reading's own time may be refused while the clock is wrong; what is taken is stored once and in order. */
export async function wrongClock(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const firstStart = { FAULTS: '1', FAULT_CLOCK: jumps }
    const options = { seed: seed + cycle, tally, firstStart, judging: { stampToleranceMs: undefined } }
    await experiment(harness, options, async stand => {
      await sleep(7000)
      await stand.kill()
      await stand.service.start({ FAULTS: '1', FAULT_CLOCK: '0:-3600,2:1' })
      await sleep(3000)
      await stand.kill()
      await stand.service.start()
      const fromMs = Date.now()
      await until('readings are taken', () =>
        stand.ledger().attempts.some(({ status, startMs }) => status === 200 && startMs > fromMs),
      )
    })
  }
}
