/** Topics with the state of their replicas, for tests, and letters for them. */

import type pg from 'pg'
import { type DeadLetter, deadLetterOf } from '../../ingest/forwarder/dead-letters.ts'
import { letterId } from '../../ingest/kafka/produce/group.ts'
import { createReplicaState, type ReplicaState, type ReplicaTenure } from '../../ingest/kafka/state/state.ts'
import { readingLength, readings, writeReading } from '../../ingest/readings-table.ts'

export type TestTopic = Awaited<ReturnType<ReturnType<typeof createTopics>['openTopic']>>

let count = 0

export function createTopics(postgres: pg.Pool) {
  /** Other tests cover the lock. */
  async function takeOver(replica = 1): Promise<ReplicaTenure> {
    const { rows } = await postgres.query<{ epoch: number }>(
      `INSERT INTO replicas AS known (number, epoch) VALUES ($1, 1)
       ON CONFLICT (number) DO UPDATE SET epoch = known.epoch + 1 RETURNING epoch::float8 AS epoch`,
      [replica],
    )
    const epoch = rows[0]?.epoch ?? 0
    return { replica, epoch, holder: `process ${epoch}` }
  }

  /** Opens a separate topic. States of earlier topics have lost the replica. */
  async function openTopic(pool = postgres) {
    const topic = `readings-${++count}`
    /** Returns the state of a process that forwards it. */
    const open = (tenure: ReplicaTenure | undefined): ReplicaState => {
      return createReplicaState({ pool, tenure, tables: new Map([[topic, readings]]), stepMs: 60_000 })
    }
    return { topic, open, state: open(await takeOver()) }
  }

  return { takeOver, openTopic }
}

const reading = { temperature: 20.5, humidity: 50, pressure: 1000, battery_voltage: Number.NaN, battery_percentage: 50 }

/** It is found in the bytes of a record. */
export const valueOfSeries = (series: number) => series * 1000 + 0.5

export function letter(
  offset: number,
  device: number,
  custom: readonly number[] = [],
  index = 0,
  reason = 'why',
): DeadLetter {
  const values = custom.map(valueOfSeries)
  const given = {
    ...reading,
    timestampMs: 1,
    ...(custom.length === 0 ? {} : { custom: { series: custom, values } }),
  }
  const ref = { number: device, symbol: `device-${device}` }
  const bytes = new Uint8Array(readingLength(ref, given))
  writeReading(new DataView(bytes.buffer), 0, ref, 1000, false, given)
  return deadLetterOf(readings, letterId(offset, index), bytes, reason, Date.UTC(2026, 0, 2))
}
