/** Writes the service's own measurements to each QuestDB replica every ten seconds, without retries. */

import { watchEventLoop } from '../../api/http/event-loop-delay.ts'
import type { IngestStatus } from '../../ingest/ingest.ts'
import type { IntervalMeter } from '../../ingest/intake/reading-meter.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../../store/questdb/questdb.ts'
import { selfMonitoringNodeSql, selfMonitoringTableSql } from '../../store/tables.ts'
import { createSampleSender, type Sample } from './sample-sender.ts'

export interface SelfMonitoringOptions {
  questdbs: readonly Pick<Questdb, 'address' | 'state'>[]
  ingest: () => IngestStatus
  interval: Pick<IntervalMeter, 'take'>
  nowMs: () => number
  everyMs?: number
  /** Host of a node among others; undefined for a single process. */
  node?: string | undefined
}

export interface SelfMonitoring {
  close(): void
}

const requestMs = 5000

export function openSelfMonitoring(options: SelfMonitoringOptions): SelfMonitoring {
  const { questdbs, everyMs = 10_000 } = options
  const read = createReader(options)
  const writers = questdbs.map(questdb => createWriter(questdb, options))
  const timer = setInterval(() => {
    const sample = read()
    for (const writer of writers) void writer.write(sample)
  }, everyMs).unref()
  return {
    close() {
      clearInterval(timer)
      read.close()
      for (const writer of writers) writer.close()
    },
  }
}

function createWriter(
  questdb: SelfMonitoringOptions['questdbs'][number],
  { nowMs, node }: Pick<SelfMonitoringOptions, 'nowMs' | 'node'>,
) {
  const { http } = questdb.address
  const statements = createQuestdbClient(http, 1)
  const sender = createSampleSender(http, requestMs, node)
  let isBusy = false
  let isTableThere = false

  async function makeTable(): Promise<void> {
    await statements.exec(selfMonitoringTableSql, requestMs)
    if (node !== undefined) await statements.exec(selfMonitoringNodeSql, requestMs)
  }

  async function write(sample: Sample): Promise<void> {
    if (isBusy) return
    if (questdb.state().state !== 'up') {
      // The next server may be another one.
      isTableThere = false
      return
    }
    isBusy = true
    try {
      if (!isTableThere) await makeTable()
      isTableThere = true
      await sender.send(nowMs(), sample)
    } catch {
      isTableThere = false
    } finally {
      isBusy = false
    }
  }

  return {
    write,
    close() {
      statements.close()
      sender.close()
    },
  }
}

/** Reads the interval since the last call. */
function createReader({ ingest, interval }: SelfMonitoringOptions): { (): Sample; close(): void } {
  const eventLoop = watchEventLoop()
  let recordsBefore = ingest().journal.records
  const read = (): Sample => {
    const { journal, lag } = ingest()
    const { ackMs, rejected } = interval.take()
    const sample: Sample = {
      ...(ackMs === undefined ? {} : { ack_p50_ms: ackMs.p50, ack_p99_ms: ackMs.p99 }),
      stored: journal.records - recordsBefore,
      rejected,
      lag_readings: lag.rows,
      lag_seconds: lag.seconds,
      journal_bytes: journal.bytes,
      rss_bytes: process.memoryUsage.rss(),
      event_loop_p99_ms: eventLoop.percentileMs(99),
    }
    recordsBefore = journal.records
    eventLoop.reset()
    return sample
  }
  return Object.assign(read, { close: eventLoop.close })
}
