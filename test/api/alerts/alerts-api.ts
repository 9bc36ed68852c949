/** The API of alerts by itself, with people who sign in, and the parts that a test hands in. */

import type { FastifyInstance, InjectOptions } from 'fastify'
import type { GuardOptions } from '../../../api/admin/guard.ts'
import { type AlertsApiOptions, alertsFamilies } from '../../../api/alerts/alerts-family.ts'
import type { Store } from '../../../store/store.ts'
import { type AccountsUnderTest, adminToken, openVariant } from '../../support/accounts.ts'
import { createApp } from '../../support/app.ts'
import { nowhere, silentLog, startDatabases, type TestHooks } from '../../support/databases.ts'
import { holdToContract } from '../../support/held-answers.ts'

/** A test hands in what it asks. */
type AlertsParts = Omit<AlertsApiOptions, keyof GuardOptions | 'alerts'> & {
  alerts: Partial<AlertsApiOptions['alerts']>
}

export interface AlertsApi {
  app: FastifyInstance
  store: Store
  people: AccountsUnderTest
  /** One request, with the admin token unless headers say who asks. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

interface Answer {
  status: number
  headers: Record<string, unknown>
  body: unknown
}

export const tokenHeaders = { authorization: `Bearer ${adminToken}` }

export async function startAlertsApi(
  t: TestHooks,
  open: (store: Store, people: AccountsUnderTest) => AlertsParts | Promise<AlertsParts>,
): Promise<AlertsApi> {
  const { store } = await startDatabases(t, nowhere)
  const people = await openVariant(t, store)
  const { findPrincipal, origins } = people
  const parts = (await open(store, people)) as Omit<AlertsApiOptions, keyof GuardOptions>
  const app = createApp(...alertsFamilies({ findPrincipal, origins, log: silentLog, ...parts }))
  holdToContract(t, app)
  t.teardown(() => app.close())
  await app.ready()
  return {
    app,
    store,
    people,
    async ask(method, url, body, headers = tokenHeaders) {
      const response = await app.inject({
        method: method as NonNullable<InjectOptions['method']>,
        url,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = response.body
      return {
        status: response.statusCode,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      }
    },
  }
}
