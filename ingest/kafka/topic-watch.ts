/** Looks at a topic every ten seconds, while the service runs, and tells what is wrong with it. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { messageOf, OtherKafka } from './kafka-errors.ts'
import { refusalShare, retentionShare } from './retention-share.ts'
import { noteProblems, type TopicProblem, topicProblems } from './topic-problems.ts'
import { lookAtTopic, type TopicSight, type TopicSources } from './topic-sight.ts'

export interface TopicWatchOptions extends TopicSources {
  /** Epoch milliseconds. */
  nowMs: () => number
  log: Log
  /** Between two looks, milliseconds. */
  everyMs?: number
}

export interface TopicState {
  topic: string
  /** As Kafka last told it; undefined until the first time. */
  sight: TopicSight | undefined
  /** How much of the retention the oldest record has used that is not in QuestDB; undefined until the first time. */
  share: number | undefined
  problems: TopicProblem[]
}

export interface TopicWatch {
  state(): TopicState
  /** The share alone. */
  retentionShare(): number | undefined
  /** Why nothing may be appended. */
  refusal(): string | undefined
  close(): Promise<void>
}

const defaultEveryMs = 10_000

export function watchTopic(options: TopicWatchOptions): TopicWatch {
  const { topic, nowMs, log, everyMs = defaultEveryMs } = options
  const closing = new AbortController()
  const { signal } = closing
  let sight: TopicSight | undefined
  let problems: TopicProblem[] = []
  let other: string | undefined
  let unforwardedSinceMs: number | undefined

  // By the clock and not by the last look, for the time passes also while Kafka does not answer.
  function share(): number | undefined {
    return sight === undefined ? undefined : retentionShare(sight.oldestMs, sight.retentionMs, nowMs())
  }

  async function look(): Promise<void> {
    let fault: string | undefined
    let isOther = false
    try {
      sight = await lookAtTopic(options, sight)
      unforwardedSinceMs = sight.unforwarded.length === 0 ? undefined : (unforwardedSinceMs ?? nowMs())
    } catch (error) {
      fault = messageOf(error)
      isOther = error instanceof OtherKafka
    }
    // What a close has interrupted is no fault.
    if (signal.aborted) return
    other = isOther ? fault : undefined
    const found = topicProblems({
      sight,
      fault,
      isOther,
      share: share(),
      lateMs: sight?.oldestMs === undefined ? 0 : nowMs() - sight.oldestMs,
      unforwardedMs: unforwardedSinceMs === undefined ? 0 : nowMs() - unforwardedSinceMs,
    })
    noteProblems(log, topic, problems, found)
    problems = found
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await look()
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    state: () => ({ topic, sight, share: share(), problems }),
    retentionShare: share,
    refusal() {
      const used = share() ?? 0
      if (other !== undefined || used < refusalShare) return other
      const percent = Math.floor(100 * used)
      return `the topic ${topic} has kept records for ${percent} % of its retention that are not in QuestDB yet`
    },
    async close() {
      closing.abort()
      await running
    },
  }
}
