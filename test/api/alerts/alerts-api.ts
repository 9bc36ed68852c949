/** The API of alerts without the service, with accounts that sign in, and parts from the test. */

import type { GuardOptions } from '../../../api/admin/guard.ts'
import { type AlertsApiOptions, alertsFamilies } from '../../../api/alerts/alerts-family.ts'
import type { Store } from '../../../store/store.ts'
import { type AccountsUnderTest, adminToken, openVariant } from '../../support/accounts.ts'
import { createApp, createAsk } from '../../support/app.ts'
import { nowhere, silentLog, startDatabases, type TestHooks } from '../../support/databases.ts'
import { holdToContract } from '../../support/held-answers.ts'

/** The parts that a test passes. */
type AlertsParts = Omit<AlertsApiOptions, keyof GuardOptions | 'alerts'> & {
  alerts: Partial<AlertsApiOptions['alerts']>
}

export const tokenHeaders = { authorization: `Bearer ${adminToken}` }

export async function startAlertsApi(
  t: TestHooks,
  open: (store: Store, people: AccountsUnderTest) => AlertsParts | Promise<AlertsParts>,
) {
  const { store } = await startDatabases(t, nowhere)
  const people = await openVariant(t, store)
  const { findPrincipal, origins } = people
  const parts = (await open(store, people)) as Omit<AlertsApiOptions, keyof GuardOptions>
  const app = createApp(...alertsFamilies({ findPrincipal, origins, log: silentLog, ...parts }))
  holdToContract(t, app)
  t.teardown(() => app.close())
  await app.ready()
  const askApp = createAsk(app)
  /** One request, by default with the admin token. */
  async function ask(method: string, url: string, body?: unknown, headers: Record<string, string> = tokenHeaders) {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const { status, headers: answered, text } = await askApp(method, url, { body, headers: { ...type, ...headers } })
    return { status, headers: answered, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  return { app, store, people, ask }
}
