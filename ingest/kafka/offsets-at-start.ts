/** Where a topic begins and ends, at the start of a process, which may come while its partition has no leader. */

import { StartError } from '../../store/start-error.ts'
import { Sleeper } from '../forwarder/sleeper.ts'
import { systemTiming, type Timing } from '../timing.ts'
import type { Offsets } from './fetcher.ts'
import { KafkaAway } from './kafka-errors.ts'

/** A broker that is gone is noticed after `broker.session.timeout.ms`, 9 s unless it is set; then another one is elected. */
const electionMsMax = 15_000
const pauseMs = 250

/** Throws `TopicMissing`, and a `StartError` when no leader answers for 15 s. */
export async function offsetsAtStart(
  partition: { offsets(): Promise<Offsets> },
  timing: Timing = systemTiming,
): Promise<Offsets> {
  const sleeper = new Sleeper(timing)
  const endMs = timing.monotonicMs() + electionMsMax
  for (;;) {
    try {
      return await partition.offsets()
    } catch (error) {
      if (!(error instanceof KafkaAway)) throw error
      if (timing.monotonicMs() >= endMs)
        throw new StartError(`Kafka does not answer (${error.message}): check its brokers, then start again.`)
    }
    await sleeper.sleep(pauseMs)
  }
}
