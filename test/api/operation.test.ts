/** Operations as the server has them and as the contract has them: the same ones, each path with its other methods refused. */

import { fastify } from 'fastify'
import t from 'tap'
import { z } from 'zod'
import { createOpenApi } from '../../api/docs/contract.ts'
import { publishOperations } from '../../api/docs/published-operations.ts'
import { addJsonBody } from '../../api/http/json-body.ts'
import { checkBody, checkPart, type Operation } from '../../api/http/operation.ts'
import { createFamily } from '../../api/http/register-operations.ts'

const Thing = z.strictObject({ name: z.string().max(3) }).meta({ id: 'Thing' })
const PageQuery = z.strictObject({ page: z.string().regex(/^\d$/).transform(Number).default(1) })

const operations: Operation[] = [
  {
    method: 'GET',
    path: '/things/:id',
    name: 'get_thing',
    summary: 'One',
    parameters: { path: z.object({ id: z.string() }), query: PageQuery },
    success: { status: 200, description: 'It', json: Thing },
  },
  {
    method: 'PUT',
    path: '/things/:id',
    name: 'put_thing',
    summary: 'Put one',
    parameters: { path: z.object({ id: z.string() }) },
    body: { json: Thing },
    success: { status: 204, description: 'It is put' },
  },
]

const family = createFamily<Operation>({
  prefix: '/v1',
  tag: { name: 'things', description: 'All of them' },
  groups: [{ operations, prepare: addJsonBody }],
  rules: {
    handler:
      ({ parameters, body }) =>
      async (request, reply) => {
        const query = checkPart(parameters?.query, request.query)
        const sent = await checkBody(body, request.body)
        const isValid = query.success && sent.success
        return reply.code(isValid ? 200 : 422).send({ query: query.success && query.data })
      },
    refuseMethod: (_request, reply, allowed) => reply.code(405).send({ allowed }),
  },
  error: { schema: z.object({ error: z.string() }) },
  refusalsOf: ({ body }) => (body === undefined ? [] : [{ status: 422, text: 'invalid' }]),
  prepare(scope) {
    // @ts-expect-error A family has no other way to a route than an operation.
    t.equal(typeof scope.get, 'function')
    scope.addHook('onRequest', async (_request, reply) => void reply.header('x-family', 'things'))
  },
})

const routes: string[] = []
const app = fastify()
app.addHook('onRoute', ({ method, url }) => void routes.push(...[method].flat().map(one => `${one} ${url}`)))
app.register(async scope => family.register(scope), { prefix: family.prefix })
t.teardown(() => app.close())

t.test('the contract has every operation that is registered', async t => {
  await app.ready()
  const { paths } = publishOperations(family)
  t.strictSame(Object.keys(paths), ['/v1/things/{id}'])
  t.strictSame(Object.keys(paths['/v1/things/{id}'] ?? {}), ['get', 'put'])
  t.ok(routes.includes('GET /v1/things/:id') && routes.includes('PUT /v1/things/:id'))
  t.match(paths['/v1/things/{id}'], {
    get: {
      parameters: [
        { name: 'id', in: 'path' },
        { name: 'page', required: false },
      ],
    },
    put: { requestBody: { required: true }, responses: { 422: { description: 'invalid' } } },
  })
  t.ok('Thing' in createOpenApi([publishOperations(family)]).components.schemas)
})

t.test('what is sent is checked by the schemas that are published', async t => {
  const url = '/v1/things/1'
  t.match(await app.inject(`${url}?page=7`), { statusCode: 200, body: '{"query":{"page":7}}' })
  t.match(await app.inject(`${url}?page=x`), { statusCode: 422 })
  t.match(await app.inject({ method: 'PUT', url, payload: { name: 'abc' } }), { statusCode: 200 })
  t.match(await app.inject({ method: 'PUT', url, payload: { name: 'abcd' } }), { statusCode: 422 })
})

t.test('other methods are told which ones there are, in the way of the family', async t => {
  const answer = await app.inject({ method: 'DELETE', url: '/v1/things/1', payload: 'x' })
  t.match(answer, { statusCode: 405, headers: { 'x-family': 'things' } })
  t.strictSame(answer.json(), { allowed: ['GET', 'HEAD', 'PUT'] })
})
