/** The error tables of the families: each code has a status and a text, and is rendered in the shape of its family. */

import { STATUS_CODES } from 'node:http'
import { type FastifyReply, fastify } from 'fastify'
import { test } from 'tap'
import { errors as accountErrors } from '../../../api/accounts/kit/errors.ts'
import { adminErrors, sendProblem } from '../../../api/admin/problem.ts'
import { airQualityErrors, sendError as sendAirQualityError } from '../../../api/air-quality/errors.ts'
import { contentFileErrors, errorAnswer } from '../../../api/content-files/answer.ts'
import {
  commonErrors,
  type ErrorEntry,
  type ErrorTable,
  sendServerError,
  serverErrors,
} from '../../../api/http/errors.ts'
import { loggerErrors, sendError } from '../../../api/http/status-operations.ts'
import { lineProtocolErrors } from '../../../api/write/line-protocol/errors.ts'

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

test('a cause shared by several families has one text and one Retry-After', async t => {
  for (const [code, { status, text, ...more }] of Object.entries<ErrorEntry>(commonErrors)) {
    const having = Object.entries({ ...tables, accounts: accountErrors }).filter(([, table]) => code in table)
    t.ok(having.length > 1, `${code} is of several families`)
    for (const [name, table] of having)
      t.match((table as ErrorTable)[code], { status, text, ...more }, `${name} ${code}`)
  }
})

test('each family renders every one of its codes in its shape', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  type Writer = readonly [table: ErrorTable, send: (reply: FastifyReply, code: never) => unknown, bodyOf: BodyOf]
  type BodyOf = (entry: ErrorEntry & { id?: unknown }) => object
  const problemOf = ({ status, text: title }: ErrorEntry) => {
    return { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status }
  }
  const families: Record<string, Writer> = {
    server: [serverErrors, sendServerError, ({ text }) => ({ status: text })],
    logger: [loggerErrors, sendError, ({ text }) => ({ status: text })],
    admin: [adminErrors, sendProblem, problemOf],
    'air-quality': [airQualityErrors, sendAirQualityError, ({ id, text }) => ({ id, message: text })],
  }
  for (const [family, [table, send]] of Object.entries(families)) {
    for (const code of Object.keys(table)) {
      app.get(`/${family}/${code}`, (_request, reply) => send(reply, code as never))
    }
  }
  for (const [family, [table, , bodyOf]] of Object.entries(families)) {
    for (const [code, entry] of Object.entries(table) as [string, ErrorEntry][]) {
      const { statusCode, headers, body } = await app.inject(`/${family}/${code}`)
      const { status, retryAfterSeconds: seconds } = entry
      t.strictSame([statusCode, JSON.parse(body)], [status, bodyOf(entry)], code)
      t.equal(headers['retry-after'], seconds === undefined ? undefined : `${seconds}`, code)
    }
  }
  for (const [code, { status, text, type }] of Object.entries(contentFileErrors)) {
    const { status: given, json } = errorAnswer(code as keyof typeof contentFileErrors)
    t.strictSame([given, JSON.parse(json.toString())], [status, { detail: text, error_type: type }], code)
  }
})
