/** Settings and secrets that all nodes have to share, on a real PostgreSQL. */

import t from 'tap'
import { openServiceNodes } from '../../service/open-nodes.ts'
import { readConfig } from '../../service/settings/config.ts'
import type { Log } from '../../store/log.ts'
import { withSharedSecrets } from '../../store/shared-secrets.ts'
import { nowhere, recordingLog, silentLog, startDatabases, temporaryFolder } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)

const own = (name: string) => name

async function join(settings: Record<string, string>, secret = own, log: Log = silentLog) {
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
    directory: { secret },
    store,
    log,
    onFatal: error => t.error(error),
  })
  t.teardown(() => nodes.close())
  await nodes.join()
  return nodes
}

t.test('a node whose topics have other names is refused', async t => {
  await join({ KAFKA_TOPIC_PREFIX: 'one-' })
  await t.rejects(join({ KAFKA_TOPIC_PREFIX: 'other-' }), {
    message: 'Other nodes on this PostgreSQL have other values of KAFKA_TOPIC_PREFIX',
  })
  await t.resolves(join({ KAFKA_TOPIC_PREFIX: 'one-' }))
})

t.test('a node with other secrets is refused, and one without a secret gets instructions', async t => {
  const other = (name: string) => (name === 'csrf-secret' ? 'other' : name)
  const settings = { KAFKA_TOPIC_PREFIX: 'one-' }
  await t.rejects(join(settings, other), { message: 'other values of the secret csrf-secret' })
  const folder = temporaryFolder(t)
  await t.rejects(join(settings, withSharedSecrets({ secret: own }, folder).secret), {
    name: 'StartError',
    message: new RegExp(`^The secret ${folder}/[a-z-]+ is missing: create it with "openssl rand -hex 32"`),
  })
})

t.test('a node with another rate joins with a warning at every node', async t => {
  const { log, texts } = recordingLog('warn')
  const usual = { KAFKA_TOPIC_PREFIX: 'one-', PORT: '1' }
  const one = await join(usual, own, log)
  const other = await join({ ...usual, PORT: '2', DEVICE_RATE: '7', SMTP_URL: 'smtp://user:secret@127.0.0.1' })
  const names = ['DEVICE_RATE', 'SMTP_URL']
  t.strictSame(other.several?.own().differing, names)
  await waitFor('the first one knows', async () => one.several?.own().differing.join() === names.join())
  t.match(texts.join(), /nodes have different values of DEVICE_RATE, SMTP_URL: give all nodes the same/)
  const states = (await one.several?.states())?.filter(({ differing }) => differing.length > 0)
  t.match(states, [{ id: other.several?.own().id, differing: names }])
  await other.close()
  await waitFor('it is gone', async () => one.several?.own().differing.length === 0)
})
