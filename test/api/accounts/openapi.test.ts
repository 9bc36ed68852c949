/** The published contract: every operation of the service, and nothing else. */

import { fastify } from 'fastify'
import { parse } from 'parse5'
import t from 'tap'
import { docsFamily } from '../../../api/docs/docs.ts'
import { accounts } from '../../support/published.ts'

const app = fastify()
const family = docsFamily({
  families: [accounts],
  isAdmin: async ({ headers }) => headers.authorization === 'Bearer admin',
  isTrusted: () => false,
})
family.register(app)
t.teardown(() => app.close())
const local = { host: 'localhost' }
const document = (await app.inject({ url: '/openapi.json', headers: local })).json()

t.test('it is OpenAPI 3.1.0 of version 0.1.0, with the operations of the interface', async t => {
  t.match(document, { openapi: '3.1.0', info: { version: '0.1.0' } })
  const published = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map(method => `${method.toUpperCase()} ${path}`),
  )
  t.strictSame(published.sort(), [
    'DELETE /v1/auth/api-keys/{key_id}',
    'DELETE /v1/auth/me',
    'DELETE /v1/auth/me/view-links/{link_id}',
    'DELETE /v1/auth/me/views/{view_id}',
    'GET /v1/auth/api-keys',
    'GET /v1/auth/device/info',
    'GET /v1/auth/google-drive/callback',
    'GET /v1/auth/google-drive/start',
    'GET /v1/auth/me',
    'GET /v1/auth/me/preferences',
    'GET /v1/auth/me/view-links',
    'GET /v1/auth/me/views',
    'GET /v1/auth/session/info',
    'GET /v1/auth/shared-view',
    'GET /v1/auth/users/by-email/{email}',
    'GET /v1/auth/users/{user_id}',
    'PATCH /v1/auth/me',
    'PATCH /v1/auth/me/preferences',
    'PATCH /v1/auth/me/views/{view_id}',
    'POST /v1/auth/api-keys',
    ...['approve', 'deny', 'poll', 'start'].map(p => `POST /v1/auth/device/${p}`),
    ...[
      'login',
      'logout',
      'me/views',
      'me/views/{view_id}/links',
      'oauth/callback',
      'password/change',
      'password/reset',
    ].map(p => `POST /v1/auth/${p}`),
    'POST /v1/auth/password/reset-request',
    ...['register', 'tenant-exchange', 'token', 'verification/request', 'verification/verify'].map(
      p => `POST /v1/auth/${p}`,
    ),
  ])
})

t.test('operation ids are as FastAPI makes them', async t => {
  t.equal(document.paths['/v1/auth/register'].post.operationId, 'register_v1_auth_register_post')
  t.equal(document.paths['/v1/auth/users/{user_id}'].get.operationId, 'get_user_by_id_v1_auth_users__user_id__get')
})

t.test('its schemas are those that validate', async t => {
  const { schemas } = document.components
  t.match(schemas.UserCreate, {
    type: 'object',
    required: ['email', 'password'],
    properties: { email: { type: 'string', format: 'email' }, password: { minLength: 8, maxLength: 128 } },
  })
  t.match(document.paths['/v1/auth/users/{user_id}'].get.parameters, [
    { name: 'user_id', in: 'path', required: true, schema: { type: 'integer' } },
  ])
  t.match(schemas.PasswordResetComplete, { required: ['token', 'new_password'] })
  t.match(document.paths['/v1/auth/register'].post, {
    requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/UserCreate' } } } },
    responses: {
      201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/UserResponse' } } } },
      409: { description: 'Email already registered' },
      422: { content: { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } } },
    },
  })
  const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
  for (const name of references) t.ok(name !== undefined && name in schemas, String(name))
  t.notMatch(JSON.stringify(document), /\$defs|"\$schema"/)
})

t.test('a person reads it without script', async t => {
  const { statusCode, body, headers } = await app.inject({
    url: '/docs/api/accounts/register_v1_auth_register_post',
    headers: local,
  })
  t.equal(statusCode, 200)
  t.match(headers, { 'content-security-policy': /default-src 'none'/, 'content-type': 'text/html; charset=utf-8' })
  const errors: unknown[] = []
  parse(body, { onParseError: error => errors.push(error) })
  t.strictSame(errors, [])
  t.match(body, '<code class="method">POST</code> <code>/v1/auth/register</code>')
})

t.test('it is for this machine, and for the admin token', async t => {
  for (const url of ['/openapi.json', '/docs/api']) {
    const remoteAddress = '10.0.0.1'
    t.match(await app.inject({ url, headers: local, remoteAddress }), { statusCode: 401 })
    const headers = { ...local, authorization: 'Bearer admin' }
    t.match(await app.inject({ url, headers, remoteAddress }), { statusCode: 200 })
  }
})
