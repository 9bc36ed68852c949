/** The error tables of the families: every code has a status and a text, and the shared codes mean the same everywhere. */

import { STATUS_CODES } from 'node:http'
import { fastify } from 'fastify'
import { test } from 'tap'
import { errors as accountErrors } from '../../api/accounts/kit/errors.ts'
import { adminErrors } from '../../api/admin/errors.ts'
import { sendProblem } from '../../api/admin/problem.ts'
import { airQualityErrors, sendError as sendAirQualityError } from '../../api/air-quality/errors.ts'
import { contentFileErrors, errorAnswer } from '../../api/content-files/errors.ts'
import { commonErrors, type ErrorEntry, type ErrorTable, sendServerError, serverErrors } from '../../api/http/errors.ts'
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
