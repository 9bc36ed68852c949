/** The range of a topic at the start of a process, when its partition may have no leader. */

import { StartError } from '../../store/start-error.ts'
import { Sleeper } from '../forwarder/sleeper.ts'
import { systemTiming, type Timing } from '../timing.ts'
import type { Offsets } from './fetcher.ts'
import { KafkaAway } from './kafka-errors.ts'

/** A failed broker is detected after `broker.session.timeout.ms`, by default 9 s. Then another leader is elected. */
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
