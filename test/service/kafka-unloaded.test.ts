/** Without KAFKA_BROKERS the service is the one that it was without Kafka. */

import { test } from 'tap'
import { startService, withoutQuestdb } from '../support/service.ts'

test('a service without Kafka loads no module of its client', async t => {
  const command = [process.execPath, '--import', './test/support/list-modules.ts', 'service/main.ts'] as const
  const service = await startService(t, { environment: withoutQuestdb, command: [...command] })
  await service.end('SIGTERM')
  const modules = service.output().split('\n')
  t.ok(
    modules.some(module => module.endsWith('/ingest/ingest.ts')),
    'modules are listed',
  )
  t.strictSame(
    modules.filter(module => module.includes('@platformatic')),
    [],
  )
})
