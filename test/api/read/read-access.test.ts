/** Whose shares a private read counts towards. */

import { fastify } from 'fastify'
import t from 'tap'
import { createAuthRateLimit } from '../../../api/http/auth-rate-limit.ts'
import { privateReads } from '../../../api/read/read-access.ts'
import { basic } from '../../support/service.ts'

t.test('all credentials of an account count as one, those of a device and the admin token by themselves', async t => {
  const account = { id: 7, role: 'administrator' }
  const principals: Record<string, object> = {
    session: { kind: 'session', account },
    bearer: { kind: 'bearer', account },
    key: { kind: 'key', account, keyId: 3, scopes: ['read'] },
    token: { kind: 'admin-token' },
  }
  const access = privateReads({
    findPrincipal: async ({ headers }) => principals[String(headers['x-who'])] as never,
    devices: { authenticate: (name: string) => (name === 'porch' ? { number: 5 } : undefined) } as never,
    authRateLimit: createAuthRateLimit(10, Date.now),
  })
  const app = fastify()
  t.teardown(() => app.close())
  access.guard(app)
  app.get('/', async request => access.credentialOf(request))
  const credentialOf = async (headers: Record<string, string>) => (await app.inject({ url: '/', headers })).body
  for (const who of ['session', 'bearer', 'key']) t.equal(await credentialOf({ 'x-who': who }), 'account 7')
  t.equal(await credentialOf({ 'x-who': 'token' }), 'admin-token')
  t.equal(await credentialOf({ authorization: basic('porch', 'secret') }), 'device 5')
})
