/** Settings that all nodes have to share, on a real PostgreSQL. */

import t from 'tap'
import { openServiceNodes } from '../../service/open-nodes.ts'
import { readConfig } from '../../settings/config.ts'
import { nowhere, silentLog, startDatabases } from '../support/databases.ts'

const { store } = await startDatabases(t, nowhere)

async function join(settings: Record<string, string>): Promise<void> {
  const environment = {
    DATABASE_URL: 'postgresql://127.0.0.1/barograph',
    KAFKA_BROKERS: '127.0.0.1:9',
    PUBLIC_URL: 'http://localhost:1',
    NODE_LEASE_SECONDS: '1',
    ...settings,
  }
  const nodes = await openServiceNodes({
    nodes: true,
    config: readConfig(environment),
    directory: { secret: name => name },
    store,
    log: silentLog,
    onFatal: error => t.error(error),
  })
  t.teardown(() => nodes.close())
  await nodes.join()
}

t.test('a node whose topics have other names is refused, and one with the same joins', async t => {
  await join({ KAFKA_TOPIC_PREFIX: 'one-' })
  await t.rejects(join({ KAFKA_TOPIC_PREFIX: 'other-' }), {
    message: 'Other nodes on this PostgreSQL have other values of KAFKA_TOPIC_PREFIX',
  })
  await t.resolves(join({ KAFKA_TOPIC_PREFIX: 'one-' }))
})
