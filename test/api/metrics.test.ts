import { fastify } from 'fastify'
import { test } from 'tap'
import { createMetrics } from '../../api/metrics.ts'

/** Every figure is 0. */
const zeros = new Proxy({}, { get: () => 0 })

test('however many scrape, the text is made once', async t => {
  let made = 0
  const metrics = createMetrics({
    ingest: () => ({ journal: zeros, forwarder: zeros, lag: zeros }) as never,
    devices() {
      made++
      return 7
    },
    questdbUp: () => true,
    questionsWaiting: () => ({}),
    isAdmin: () => false,
    isTrusted: () => false,
  })
  const app = fastify()
  t.teardown(() => app.close())
  metrics.register(app)
  const scrapes = await Promise.all(Array.from({ length: 50 }, () => app.inject('/metrics')))
  t.ok(scrapes.every(({ statusCode, body }) => statusCode === 200 && /^barograph_devices 7$/m.test(body)))
  t.equal(made, 1)
})
