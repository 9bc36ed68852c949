/** Starts of a broker that fail, with a shell in place of Kafka. */

import { test } from 'tap'
import { createKafkaBroker } from '../../../cli/demo/cluster/kafka-broker.ts'
import { temporaryFolder } from '../../support/databases.ts'

/** `format` and `run` are the commands of a shell for the two programs of Kafka. */
function brokerOf(folder: string, { format = 'exit 0', run = 'exit 0' }) {
  const script = `case "$1" in kafka.tools.StorageTool) ${format};; kafka.Kafka) ${run};; esac`
  return createKafkaBroker({
    java: { command: '/bin/sh', args: ['-c', script, 'kafka'], environment: {} },
    folder,
    clusterId: 'a cluster',
    settings: 'node.id=1\n',
    stopTimeoutMs: 10_000,
    address: '127.0.0.1:1',
  })
}

test('a broker that ends at its start, or whose folder cannot be made, is reported with its log', async t => {
  const folder = temporaryFolder(t)
  const broker = await brokerOf(folder, { run: 'echo port in use; exit 3' })
  await t.rejects(broker.start(), { message: /^a broker did not start \(exit code 3\): .*port in use/s })
  const made = brokerOf(temporaryFolder(t), { format: 'echo disk full; exit 1' })
  await t.rejects(made, { message: /^the folder of a broker cannot be made: .*disk full/s })
})

test('a broker runs once its log says so, and ends by a stop', async t => {
  const folder = temporaryFolder(t)
  const broker = await brokerOf(folder, { run: 'echo Kafka Server started; exec sleep 600' })
  await broker.start()
  t.doesNotThrow(() => process.kill(broker.pid(), 0))
  t.equal(await broker.stop(), 'signal SIGTERM')
})
