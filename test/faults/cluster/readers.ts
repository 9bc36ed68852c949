/** Reads at each node during faults: a node never shows fewer rows than before, with any replica. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterBed } from './cluster-experiment.ts'
import type { ApiProcess } from './processes.ts'

const pauseMs = 250
const answerMs = 15_000

interface Reads {
  answered: number
  refused: number
  longestMs: number
}

/** Reads a device that keeps all its readings. */
export function startReaders(bed: ClusterBed): { stop(): Promise<void> } {
  const [, device] = bed.devices
  const path = `/api/readings/${device?.name}?start=${new Date().toISOString()}&format=ndjson`
  let isOver = false

  async function run(api: ApiProcess, number: number): Promise<void> {
    const reads: Reads = { answered: 0, refused: 0, longestMs: 0 }
    let seen = { pid: 0, rows: 0 }
    let answeredMs = performance.now()
    while (!isOver) {
      const pid = api.pid()
      const rows = await rowsAt(`http://127.0.0.1:${api.port}${path}`)
      if (rows === 'refused') reads.refused++
      if (typeof rows === 'number') {
        if (pid === seen.pid && rows < seen.rows && pid === api.pid())
          bed.tally.problems.push(`api ${number} shows ${rows} rows of ${device?.name} after ${seen.rows}`)
        seen = { pid, rows }
        reads.answered++
        reads.longestMs = Math.max(reads.longestMs, performance.now() - answeredMs)
        answeredMs = performance.now()
      }
      await sleep(pauseMs)
    }
    const { answered, refused, longestMs } = reads
    bed.tally.notes.push(
      `reads at api ${number}: ${answered} answered, ${refused} refused, at most ${Math.round(longestMs)} ms between two`,
    )
  }

  const running = Promise.all(bed.apis.map((api, at) => run(api, at + 1)))
  return {
    async stop() {
      isOver = true
      await running
    },
  }
}

/** Undefined if the process does not respond. */
async function rowsAt(url: string): Promise<number | 'refused' | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerMs) })
    const text = await response.text()
    return response.status === 200 ? text.split('\n').length : 'refused'
  } catch {
    return undefined
  }
}
