/** Row 17: a second process on the same data directory, and the lock of one that was killed. */

import { freePort } from '../../../store/process/free-port.ts'
import { experiment, type Harness } from '../experiment.ts'
import { createServiceProcess } from '../service-process.ts'
import type { Tally } from '../tally.ts'

export async function secondProcess(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  await experiment(harness, { seed, tally }, async bed => {
    const { dataDirectory, environment } = bed.service
    const port = await freePort()
    const second = createServiceProcess(bed.hooks, { source: harness.source, port, dataDirectory, environment })
    let longestMs = 0
    for (let cycle = 0; cycle < cycles; cycle++) {
      const startedMs = performance.now()
      const child = second.launch()
      await second.ended('a second process is refused')
      const elapsedMs = performance.now() - startedMs
      const named = second.output().includes(`process ${bed.service.pid()},`)
      if (child.exitCode !== 1 || !named) tally.problems.push(`a second process ended with ${child.exitCode}`)
      longestMs = Math.max(longestMs, elapsedMs)
      await bed.kill()
      await bed.service.start()
      await bed.untilAcknowledged(100)
    }
    tally.notes.push(`longest refusal ${Math.round(longestMs)} ms`)
  })
}
