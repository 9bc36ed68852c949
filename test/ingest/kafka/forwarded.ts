/** A topic with its own device, and its forwarder to QuestDB. */

import type { Test } from 'tap'
import { postgresUrl } from '../../../cli/demo/cluster/database-settings.ts'
import type { TopicPartition } from '../../../ingest/kafka/client/partition.ts'
import { createReplicaState } from '../../../ingest/kafka/state/state.ts'
import { readings } from '../../../ingest/readings-table.ts'
import { readingsTable } from '../../../store/tables.ts'
import { recordingLog, temporaryFolder } from '../../support/databases.ts'
import { until } from '../../support/processes.ts'
import { questdbRows } from '../../support/questdb-rows.ts'
import { topicGroup } from '../topic-content.ts'
import { kafka as broker, client as kafka, store } from './broker.ts'
import { forwardReplica, type TestReplica } from './forward-replica.ts'

let topics = 0
let devices = 0

export const newDevice = (): number => ++devices

interface TopicUnderTest {
  topic: string
  partition: TopicPartition
  /** Its rows, by time. */
  device: number
  replica(holder: string, more?: Partial<TestReplica>): TestReplica
  state: ReturnType<typeof createReplicaState>
}

/** A topic and a device of its own. */
export async function makeTopic(t: Test): Promise<TopicUnderTest> {
  const topic = await broker.makeTopic(`forwarded-${++topics}`)
  const partition = await kafka.partition(topic)
  const options = { kafka: { brokers: broker.addresses, clientId: 'test' }, questdb: store.questdb.address.http }
  const given = { topic, postgres: postgresUrl(store.postgres), ...options }
  return {
    topic,
    partition,
    device: newDevice(),
    replica: (holder, more = {}) => ({ ...given, holder, folder: temporaryFolder(t), ...more }),
    state: createReplicaState({ pool: store.postgres, tenure: undefined, tables: new Map([[topic, readings]]) }),
  }
}

export function forward(t: Test, replica: TestReplica, log = recordingLog('error').log) {
  const forwarder = forwardReplica(replica, log)
  t.teardown(() => forwarder.close())
  return forwarder
}

export async function append({ partition }: TopicUnderTest, ...bodies: Buffer[]): Promise<void> {
  for (const body of bodies) {
    const { outcome } = await partition.append(topicGroup(body, countOf(body)))
    if (outcome !== 'stored') throw new Error(`the group is ${outcome}`)
  }
}

function countOf(body: Buffer): number {
  let count = 0
  for (let offset = 0; offset < body.length; count++) offset += body.readUInt16LE(offset)
  return count
}

export const nowUs = () => Date.now() * 1000

export async function valuesOf(number: number): Promise<unknown[]> {
  const sql = `SELECT temperature FROM ${readingsTable} WHERE device = 'device-${number}' ORDER BY ts`
  return (await questdbRows(store, sql)).map(([value]) => value)
}

export async function committed({ state, topic }: TopicUnderTest): Promise<number | undefined> {
  return (await state.load(topic)).offset
}

export const untilCommitted = (of: TopicUnderTest, offset: number) =>
  until(`${offset} is committed`, async () => (await committed(of)) === offset)
