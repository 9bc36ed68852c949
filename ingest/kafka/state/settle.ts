/** Compares committed offsets with QuestDB's positions of its topics; see settlePosition. */

import { bug } from '../../../store/limits/bug.ts'
import type { QuestdbHttp } from '../../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { type Settled, type SettleOptions, settlePosition } from '../../forwarder/settle-position.ts'
import type { TableDescription } from '../../table.ts'
import { journalsOf } from '../client/names.ts'
import type { TopicPartition } from '../client/partition.ts'

export interface TopicSettlerOptions extends Pick<SettleOptions, 'database' | 'acceptedMs' | 'nowMs'> {
  /** Its number. Default: the first one. */
  replica?: number
  questdb: QuestdbHttp
  partition: (topic: string) => Promise<Pick<TopicPartition, 'offsets' | 'close'>>
  tables: ReadonlyMap<string, TableDescription>
}

export interface TopicSettler {
  /** `committed` is undefined when nothing was committed. Rejects like settlePosition, and like a partition. */
  settle(topic: string, committed: number | undefined, beforeAgain: SettleOptions['beforeAgain']): Promise<Settled>
  close(): void
}

const answerMsMax = 10_000

export function createTopicSettler({
  questdb,
  replica = 1,
  partition,
  tables,
  ...given
}: TopicSettlerOptions): TopicSettler {
  const client = createQuestdbClient(questdb, 1)
  return {
    async settle(topic, committed, beforeAgain) {
      const table = tables.get(topic)
      if (table === undefined) throw bug(`there is no table of topic ${topic}`)
      const opened = await partition(topic)
      try {
        const range = await opened.offsets()
        const exec = (sql: string) => client.exec(sql, answerMsMax)
        return await settlePosition(
          { ...given, exec, ...journalsOf(topic, replica), table, beforeAgain },
          { ...range, committed: committed ?? 0 },
        )
      } finally {
        await opened.close()
      }
    },
    close: () => client.close(),
  }
}
