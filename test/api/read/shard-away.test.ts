/** What a client is told when one QuestDB of several does not answer: which shard that is, in the shape of the interface. */

import { fastify } from 'fastify'
import { test } from 'tap'
import { exportOperation } from '../../../api/admin/export.ts'
import { sendAnswer } from '../../../api/read/read-answers.ts'
import type { Answer } from '../../../query/cache/body.ts'
import { serveEverybody } from '../../support/admin-scope.ts'
import { silentLog } from '../../support/databases.ts'
import { madeMetrics } from '../../support/made-metrics.ts'

const away = { ok: false, code: 'DATABASE_AWAY' } as const

test('a read names the shard that is away', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  const answers: Record<string, Answer> = { '1': away, '2': { ...away, shard: 2 } }
  app.get<{ Params: { which: string } }>('/:which', (request, reply) => {
    return sendAnswer(request, reply, answers[request.params.which] as Answer, () => undefined)
  })
  const named = await app.inject('/2')
  t.equal(named.statusCode, 503)
  t.equal(named.headers['retry-after'], '5')
  t.strictSame(named.json(), { status: 'database of shard 2 unavailable' })
  t.strictSame((await app.inject('/1')).json(), { status: 'database unavailable' })
})

test('an export names it in the detail of the problem', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  let failure: typeof away & { readonly shard?: number } = away
  await app.register(async scope => {
    serveEverybody(scope, {
      operations: [
        exportOperation({
          readingsExport: { pieces: async () => failure, close: async () => undefined },
          metrics: madeMetrics(),
          nowMs: Date.now,
          aheadMsMax: 0,
          log: silentLog,
          devices: { get: () => undefined, all: () => [] },
          audit: async () => undefined,
        }),
      ],
    })
  })
  const whole = await app.inject('/export')
  t.match(whole.json(), { detail: 'QuestDB does not answer' })
  failure = { ...away, shard: 3 }
  const named = await app.inject('/export')
  t.equal(named.statusCode, 503)
  t.match(named.json(), { detail: 'QuestDB of shard 3 does not answer' })
})
