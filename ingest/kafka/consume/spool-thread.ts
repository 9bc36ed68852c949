/** The forwarder's thread for a journal that is a topic. */

import { rmSync } from 'node:fs'
import { type MessagePort, workerData } from 'node:worker_threads'
import { Hold } from '../../../store/postgres/held-lock.ts'
import type { ForwarderThreadData } from '../../forwarder/forwarder-status.ts'
import { runForwarder, threadLog } from '../../forwarder/run-forwarder.ts'
import { type Disk, openDisk } from '../../journal/disk.ts'
import { systemTiming } from '../../timing.ts'
import { connectKafka, type Kafka, type KafkaOptions } from '../client/connect.ts'
import type { SpoolMessage } from '../state/forward-status.ts'
import { openSpoolSource, type SpoolSourceOptions } from './spool-source.ts'

export interface SpoolSourceData
  extends Pick<
    SpoolSourceOptions,
    'topic' | 'bytesMax' | 'reserveBytes' | 'from' | 'appliedBefore' | 'erased' | 'keepMs' | 'predecessorMs'
  > {
  /** Folder of the spool. Its content is removed. */
  directory: string
  damagedDirectory: string
  kafka: KafkaOptions
  /** The hold is shared memory of `Hold`. */
  hold: Hold['shared']
  /** Receives SpoolMessage. */
  port: MessagePort
}

const data: ForwarderThreadData<SpoolSourceData> = workerData
const { source } = data

runForwarder(data, () => {
  const hold = new Hold(source.hold)
  return openSpoolSource({
    ...source,
    table: data.table,
    disk: openEmptyDisk(source.directory),
    damagedDisk: openDisk(source.damagedDirectory),
    isHeld: () => hold.isHeld(),
    connect: () => connectLater(source.kafka),
    timing: systemTiming,
    log: threadLog,
    send: (message: SpoolMessage) => source.port.postMessage(message),
  })
})

/** Files of an earlier process were not synced, and their content is in the topic. */
function openEmptyDisk(directory: string): Disk {
  rmSync(directory, { recursive: true, force: true })
  return openDisk(directory, false)
}

function connectLater(options: KafkaOptions) {
  let kafka: Promise<Kafka> | undefined
  return {
    async partition(topic: string) {
      kafka ??= connectKafka(options)
      return (await kafka).partition(topic)
    },
    close: () => void kafka?.then(connected => connected.close()),
  }
}
