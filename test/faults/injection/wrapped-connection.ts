/** A connection that kills around its requests: at different moments between the bytes that leave and the answer. */

import type * as questdb from '../../../ingest/forwarder/questdb.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof questdb = await import(realModule(import.meta.url))

export function connectQuestdb(...given: Parameters<typeof questdb.connectQuestdb>): questdb.QuestdbConnection {
  const connection = real.connectQuestdb(...given)
  let writes = 0
  return {
    ...connection,
    async write(rows) {
      const timer = setTimeout(() => pass('after-forward'), writes++ % 4)
      const answer = await connection.write(rows)
      clearTimeout(timer)
      if (answer.kind === 'stored') pass('after-taken')
      return answer
    },
  }
}
