/** The error tables of the families and their operations: each code has a status and a text, each path refuses other methods. */

import { STATUS_CODES } from 'node:http'
import { fastify } from 'fastify'
import t, { test } from 'tap'
import { z } from 'zod'
import { errors as accountErrors } from '../../api/accounts/kit/errors.ts'
import { adminErrors } from '../../api/admin/errors.ts'
import { sendProblem } from '../../api/admin/problem.ts'
import { airQualityErrors, sendError as sendAirQualityError } from '../../api/air-quality/errors.ts'
import { contentFileErrors, errorAnswer } from '../../api/content-files/errors.ts'
import { createOpenApi } from '../../api/docs/contract.ts'
import { publishOperations } from '../../api/docs/published-operations.ts'
import { commonErrors, type ErrorEntry, type ErrorTable, sendServerError, serverErrors } from '../../api/http/errors.ts'
import { addJsonBody } from '../../api/http/json-body.ts'
import { checkBody, checkPart, type Operation } from '../../api/http/operation.ts'
import { createFamily } from '../../api/http/register-operations.ts'
import { loggerErrors, sendError } from '../../api/http/status-errors.ts'
import { lineProtocolErrors } from '../../api/write/line-protocol/errors.ts'

type Code<Table> = keyof Table & string
const codesOf = <Table extends object>(table: Table) => Object.keys(table) as Code<Table>[]
const tables: Record<string, Readonly<Record<string, ErrorEntry>>> = {
  server: serverErrors,
  logger: loggerErrors,
  admin: adminErrors,
  contentFiles: contentFileErrors,
  airQuality: airQualityErrors,
  lineProtocol: lineProtocolErrors,
}

test('every code has an error status and a text of one line', async t => {
  for (const [name, table] of Object.entries(tables)) {
    for (const [code, { status, text, retryAfterSeconds }] of Object.entries(table)) {
      t.match(code, /^[A-Z]+(_[A-Z]+)*$/)
      t.ok(status >= 400 && STATUS_CODES[status] !== undefined, `${name} ${code} ${status}`)
      t.match(text, /^\S.*\S$/)
      if (retryAfterSeconds !== undefined) t.ok([429, 503].includes(status), `${name} ${code} is worth another try`)
    }
  }
})

test('a code has one status in all families that have it', async t => {
  const statuses = new Map<string, number>()
  for (const [name, table] of Object.entries(tables)) {
    for (const [code, { status }] of Object.entries(table)) {
      t.equal(status, statuses.get(code) ?? status, `${name} ${code}`)
      statuses.set(code, status)
    }
  }
})

test('a cause that several families have is told by one text and one Retry-After', async t => {
  for (const [code, { status, text, ...more }] of Object.entries<ErrorEntry>(commonErrors)) {
    const having = Object.entries({ ...tables, accounts: accountErrors }).filter(([, table]) => code in table)
    t.ok(having.length > 1, `${code} is of several families`)
    for (const [name, table] of having)
      t.match((table as ErrorTable)[code], { status, text, ...more }, `${name} ${code}`)
  }
})

test('each family writes every one of its codes in its own shape', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  const serverCodes = codesOf(serverErrors)
  const loggerCodes = codesOf(loggerErrors)
  const adminCodes = codesOf(adminErrors)
  for (const code of serverCodes) app.get(`/server/${code}`, (_request, reply) => sendServerError(reply, code))
  for (const code of loggerCodes) app.get(`/logger/${code}`, (_request, reply) => sendError(reply, code))
  for (const code of adminCodes) app.get(`/admin/${code}`, (_request, reply) => sendProblem(reply, code))
  for (const code of codesOf(airQualityErrors)) {
    app.get(`/air-quality/${code}`, (_request, reply) => sendAirQualityError(reply, code))
  }
  const writes = async (family: string, code: string, { status, retryAfterSeconds }: ErrorEntry, body: object) => {
    const response = await app.inject(`/${family}/${code}`)
    t.equal(response.statusCode, status, code)
    t.strictSame(response.json(), body, code)
    t.equal(response.headers['retry-after'], retryAfterSeconds === undefined ? undefined : `${retryAfterSeconds}`, code)
  }
  for (const code of serverCodes) await writes('server', code, serverErrors[code], { status: serverErrors[code].text })
  for (const code of loggerCodes) await writes('logger', code, loggerErrors[code], { status: loggerErrors[code].text })
  for (const code of adminCodes) {
    const { status, text: title } = adminErrors[code]
    await writes('admin', code, adminErrors[code], {
      type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`,
      title,
      status,
    })
  }
  for (const code of codesOf(airQualityErrors)) {
    const { id, text: message } = airQualityErrors[code]
    await writes('air-quality', code, airQualityErrors[code], { id, message })
  }
  for (const code of codesOf(contentFileErrors)) {
    const { status, text, type } = contentFileErrors[code]
    const { status: given, json } = errorAnswer(code)
    t.strictSame([given, JSON.parse(json.toString())], [status, { detail: text, error_type: type }], code)
  }
})

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
